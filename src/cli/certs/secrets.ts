import { stringify } from "yaml";
import type { CertificateSet } from "./folder.ts";

/** Names of the Secrets, as the manifests of infra/ look for them. */
export interface SecretNames {
  readonly namespace: string;
  /** Of the server: its certificate and key, and the authority of its clients. */
  readonly server: string;
  /** Of a second scheduler: the client certificate and key, and the authority of the server. */
  readonly client: string;
}

/** The names of infra/. */
export const DEFAULT_SECRETS: SecretNames = {
  namespace: "berth-system",
  server: "berth-binder-tls",
  client: "berth-scheduler-client",
};

/** The Secrets of a set of certificates as a manifest. It holds private keys: a file of mode 0600, never a log. */
export function secretManifests(set: CertificateSet, names: SecretNames = DEFAULT_SECRETS): string {
  const secret = (name: string, { certificate, key }: { certificate: string; key: string }) =>
    stringify({
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/tls",
      metadata: { name, namespace: names.namespace },
      stringData: { "tls.crt": certificate, "tls.key": key, "ca.crt": set.trusted },
    });
  return [secret(names.server, set.server), secret(names.client, set.client)].join("---\n");
}
