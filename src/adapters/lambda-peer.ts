import { X509Certificate } from "node:crypto";
import type { Peer } from "../extender/callers.ts";

/**
 * What API Gateway says of a client certificate that it has verified with the truststore of a custom domain:
 * `requestContext.authentication.clientCert` (events of HTTP APIs, payload 2.0) or `requestContext.identity.clientCert`
 * (REST APIs). Function URLs know no client certificates. Source: AWS's API Gateway developer guide, "How to turn on
 * mutual TLS authentication".
 */
interface ClientCert {
  readonly clientCertPem?: string;
}

interface RequestContext {
  readonly authentication?: { readonly clientCert?: ClientCert } | null;
  readonly identity?: { readonly clientCert?: ClientCert };
}

/** The peer of a request to Lambda, from hono's environment: never this machine. */
export function lambdaPeer(_: Request, env: unknown): Peer {
  const { requestContext } = env as { readonly requestContext?: RequestContext };
  const pem = (requestContext?.authentication ?? requestContext?.identity)?.clientCert?.clientCertPem;
  if (!pem) return { loopback: false };
  const certificate = new X509Certificate(pem);
  const sha256 = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  return { loopback: false, certificate: { names: namesOf(certificate), sha256 } };
}

/** Common names and DNS names; names that are written with escapes or quotes are not taken. */
function namesOf({ subject, subjectAltName }: X509Certificate): string[] {
  const common = subject.split("\n").flatMap((line) => /^CN=([^\\"+]+)$/.exec(line)?.[1] ?? []);
  const dns = (subjectAltName ?? "").split(", ").flatMap((part) => /^DNS:([^"]+)$/.exec(part)?.[1] ?? []);
  return [...new Set([...common, ...dns])];
}
