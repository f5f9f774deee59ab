import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { Peer } from "../extender/callers.ts";

/** A connection does not change its peer, so its certificate is read once. */
const known = new WeakMap<Socket, Peer>();

/**
 * Who is at the other end of a request's connection, over HTTP/1.1 and HTTP/2. The certificate is there only when its
 * chain was verified; `names` are its common names and DNS names in the order of the certificate.
 */
export function peerOf(incoming: IncomingMessage | Http2ServerRequest): Peer {
  const socket = connectionOf(incoming);
  if (!socket) return { loopback: false };
  const found = known.get(socket) ?? readPeer(socket);
  known.set(socket, found);
  return found;
}

/** True for addresses of this machine alone: 127.0.0.0/8, ::1 and IPv4 written as IPv6. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === "::1" || /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(address));
}

/** The socket of HTTP/2 hangs on the session, and is gone with it. */
function connectionOf(incoming: IncomingMessage | Http2ServerRequest): Socket | undefined {
  return "stream" in incoming ? incoming.stream?.session?.socket : incoming.socket;
}

function readPeer(socket: Socket): Peer {
  const loopback = isLoopback(socket.remoteAddress);
  const certificate = verifiedCertificate(socket as TLSSocket);
  if (!certificate) return { loopback };
  const sha256 = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  const names = [...[certificate.subject.CN ?? []].flat(), ...dnsNames(certificate.subjectaltname)];
  return { loopback, certificate: { names: [...new Set(names)], sha256 } };
}

/**
 * Older releases of Node call a TLS 1.3 session that was resumed without a certificate authorized, so the certificate
 * itself has to be there.
 */
function verifiedCertificate(socket: TLSSocket): PeerCertificate | undefined {
  if (!socket.encrypted || !socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  return certificate?.raw ? certificate : undefined;
}

/**
 * The DNS names in Node's text form `IP Address:…, DNS:a, DNS:"b"`. Unusual names are JSON strings there, in which a
 * comma is escaped (since CVE-2021-44532): no name can pose as two.
 */
function dnsNames(alternatives = ""): string[] {
  const parts = alternatives.split(", ").filter((part) => part.startsWith("DNS:"));
  return parts.map((part) => part.slice("DNS:".length)).map((name) => (name.startsWith('"') ? JSON.parse(name) : name));
}
