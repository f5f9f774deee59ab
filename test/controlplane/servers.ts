import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Api } from "./api.ts";
import { type Authority, createKeyPair } from "./authority.ts";
import { freePort } from "./ports.ts";
import { type RunningProcess, startProcess, waitUntilUp } from "./process.ts";
import { apiServerVersion, programPath } from "./programs.ts";

/** The users that authenticate by token, with their tokens. */
export const tokens = { admin: "admin-token", "system:kube-scheduler": "kube-scheduler-token" } as const;

/** Starts an etcd of one member that keeps its data in the folder, and waits until it answers. */
export async function startEtcd(folder: string): Promise<{ readonly process: RunningProcess; readonly url: string }> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const process = startProcess({
    name: "etcd",
    command: programPath({ name: "etcd", version: apiServerVersion }),
    args: [
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      // The data lives as long as the test, so nothing is lost that matters.
      "--unsafe-no-fsync",
      "--quota-backend-bytes=4294967296",
      "--log-level=warn",
    ],
    folder,
    removeWhenAbandoned: folder,
  });
  await waitUntilUp(process, async () => (await fetch(`${url}/health`)).ok);
  return { process, url };
}

/** Where and how an API server runs. */
export interface ApiServerSetting {
  readonly folder: string;
  readonly authority: Authority;
  readonly port: number;
  readonly etcdUrl: string;
  readonly flags: readonly string[];
}

/**
 * Writes certificates, keys and tokens, and gives a function that starts the API server on them and waits until it is
 * ready; called again after the server ended, it starts the same one again.
 */
export async function prepareApiServer(setting: ApiServerSetting): Promise<(api: Api) => Promise<RunningProcess>> {
  const { folder, authority } = setting;
  const server = await authority.issue({
    name: "kube-apiserver",
    hosts: ["127.0.0.1", "localhost", "kubernetes.default.svc"],
  });
  const signer = await createKeyPair();
  const users = [
    `${tokens.admin},admin,admin,system:masters`,
    `${tokens["system:kube-scheduler"]},system:kube-scheduler,scheduler`,
  ];
  const files = {
    "ca.crt": authority.caPem,
    "server.crt": server.certPem,
    "server.key": server.keyPem,
    "service-account.key": signer.privatePem,
    "service-account.pub": signer.publicPem,
    "tokens.csv": `${users.join("\n")}\n`,
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
  return async (api) => {
    const process = startProcess({
      name: "kube-apiserver",
      command: programPath({ name: "kube-apiserver", version: apiServerVersion }),
      args: [...apiServerFlags(setting), ...setting.flags],
      folder,
      removeWhenAbandoned: folder,
    });
    try {
      await waitUntilUp(process, () => isReady(api));
    } catch (error) {
      await process.stop("SIGKILL");
      throw error;
    }
    return process;
  };
}

function apiServerFlags(setting: ApiServerSetting): string[] {
  const file = (name: string): string => join(setting.folder, name);
  return [
    `--etcd-servers=${setting.etcdUrl}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${setting.port}`,
    // A loopback address may not become an endpoint of the kubernetes Service, and nobody here uses that.
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.96.0.0/16",
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    // kube-scheduler logs an error every few seconds without them; no client has a certificate of that name.
    `--requestheader-client-ca-file=${file("ca.crt")}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--token-auth-file=${file("tokens.csv")}`,
    "--authorization-mode=Node,RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("service-account.pub")}`,
    `--service-account-signing-key-file=${file("service-account.key")}`,
    // It would wait for tokens and default accounts that a controller-manager makes.
    "--disable-admission-plugins=ServiceAccount",
  ];
}

async function isReady(api: Api): Promise<boolean> {
  await api.request({ method: "GET", path: "/readyz", within: 5_000 });
  // Made by a controller of the API server, shortly after it calls itself ready.
  await api.request({ method: "GET", path: "/api/v1/namespaces/default" });
  return true;
}
