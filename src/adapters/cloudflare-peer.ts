import type { Peer } from "../extender/callers.ts";

/**
 * What Cloudflare verified about a client certificate; `request.cf.tlsClientAuth`, present on a zone's own hostname
 * with client certificates enabled. Source: Cloudflare's runtime API reference, IncomingRequestCfProperties.
 */
interface TlsClientAuth {
  readonly certPresented?: string;
  readonly certVerified?: string;
  readonly certRevoked?: string;
  readonly certSubjectDNRFC2253?: string;
  readonly certFingerprintSHA256?: string;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The peer of a request to a Worker. Only local development serves a loopback host name: on Cloudflare's network a
 * Worker is reached by its public one.
 */
export function cloudflarePeer(request: Request): Peer {
  const loopback = LOOPBACK.test(new URL(request.url).hostname);
  const auth = (request as { cf?: { tlsClientAuth?: TlsClientAuth } }).cf?.tlsClientAuth;
  const verified = auth?.certPresented === "1" && auth.certVerified === "SUCCESS" && auth.certRevoked !== "1";
  if (!verified) return { loopback };
  const name = commonName(auth.certSubjectDNRFC2253 ?? "");
  return {
    loopback,
    certificate: { names: name === undefined ? [] : [name], sha256: auth.certFingerprintSHA256 ?? "" },
  };
}

/**
 * The CN of a distinguished name such as `CN=kube-scheduler,O=system:masters`. Names with escapes are not taken, and
 * an escaped comma is part of a value, whatever stands behind it.
 */
function commonName(subject: string): string | undefined {
  return /(?:^|(?<!\\),)CN=([^,\\+"]+)(?:,|$)/.exec(subject)?.[1];
}
