import "reflect-metadata";
import { X509Certificate } from "node:crypto";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import * as x509 from "@peculiar/x509";
import { describe, expect, it } from "vitest";
import { createAuthority, type Issued, issueClient, issueServer } from "../cli/certificates.ts";
import type { Peer } from "../extender/callers.ts";
import { ask, authority, post, server, session, start, tlsFiles, wire } from "./listener-fixture.ts";
import { isLoopback } from "./peer.ts";

const clients = await createAuthority({ name: "Clients", days: 2 });
const tellPeer = (_: Request, { peer }: { peer: Peer }) => Response.json(peer);

async function startMutual() {
  return start({ tls: await tlsFiles(server, clients.certificate), fetch: tellPeer });
}

/** What the app is told about a caller, over HTTP/1.1 and over HTTP/2. */
async function peers(listener: { url: string; port: number }, pair?: Issued): Promise<Peer[]> {
  const credentials: ConnectionOptions = pair ? { cert: pair.certificate, key: pair.key } : {};
  const one = await wire(listener.port, credentials);
  one.send(post("x"));
  const two = await ask(await session(listener.url, credentials), "x");
  return [(await one.answer()).body, two.body].map((body) => JSON.parse(body) as Peer);
}

/** A client certificate with DNS names as they stand, under the clients' authority. */
async function withDnsNames(names: readonly string[]): Promise<Issued> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const der = x509.PemConverter.decodeFirst(clients.key);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: new x509.Name([{ CN: [{ utf8String: "first" }] }, { CN: [{ utf8String: "second" }] }]),
    issuer: new x509.X509Certificate(clients.certificate).subjectName,
    publicKey: keys.publicKey,
    signingKey: await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]),
    signingAlgorithm: algorithm,
    notAfter: new Date(Date.now() + 86_400_000),
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: "ip", value: "10.0.0.7" },
        ...names.map((value) => ({ type: "dns" as const, value })),
        { type: "email", value: "not@a.host" },
      ]),
    ],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { certificate: certificate.toString("pem"), key };
}

describe("the peer that the app is told", () => {
  it("has no certificate when no authority for clients is given, whatever the client presents", async () => {
    const listener = await start({ tls: await tlsFiles(), fetch: tellPeer });
    const pair = await issueClient(clients, { name: "cluster-a", days: 1 });
    expect(await peers(listener, pair)).toEqual([{ loopback: true }, { loopback: true }]);
  });

  it("has the verified certificate's name and fingerprint, over HTTP/1.1 and HTTP/2", async () => {
    const pair = await issueClient(clients, { name: 'cluster "a", CN=root', days: 1 });
    const sha256 = new X509Certificate(pair.certificate).fingerprint256.replaceAll(":", "").toLowerCase();
    const expected = { loopback: true, certificate: { names: ['cluster "a", CN=root'], sha256 } };
    expect(await peers(await startMutual(), pair)).toEqual([expected, expected]);
  });

  it("has every common name and DNS name, each whole: a comma in one does not make two", async () => {
    const names = ["a.example.com", "x, DNS:admin.example.com", 'q"uote', "*.b", "c,d", "back\\slash"];
    const [peer] = await peers(await startMutual(), await withDnsNames(names));
    expect(peer?.certificate?.names).toEqual(["first", "second", ...names]);
  });

  it("has no certificate when the client presents none; it is served all the same", async () => {
    expect(await peers(await startMutual())).toEqual([{ loopback: true }, { loopback: true }]);
  });

  it("has no certificate when its authority is another, its time is over, or it is meant for servers", async () => {
    const stranger = await createAuthority({ name: "Clients", days: 1 });
    const past = new Date(Date.now() - 10 * 86_400_000);
    const pairs = [
      await issueClient(stranger, { name: "cluster-a", days: 1 }),
      await issueClient(authority, { name: "cluster-a", days: 1 }),
      await issueClient(clients, { name: "cluster-a", days: 1, now: past }),
      await issueServer(clients, { names: ["cluster-a"], days: 1 }),
    ];
    const listener = await startMutual();
    for (const pair of pairs) expect(await peers(listener, pair)).toEqual([{ loopback: true }, { loopback: true }]);
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)("never gains a certificate by resuming a %s session", async (version) => {
    const listener = await startMutual();
    const rogue = await issueClient(authority, { name: "cluster-a", days: 1 });
    for (const pair of [undefined, rogue]) {
      const options: ConnectionOptions = {
        minVersion: version,
        maxVersion: version,
        ...(pair && { cert: pair.certificate, key: pair.key }),
      };
      const first = await wire(listener.port, options);
      first.send(post("x"));
      await first.answer();
      const ticket = (first.socket as TLSSocket).getSession();
      const second = await wire(listener.port, { ...options, ...(ticket && { session: ticket }) });
      expect((second.socket as TLSSocket).isSessionReused()).toBe(true);
      second.send(post("x"));
      expect(JSON.parse((await second.answer()).body)).toEqual({ loopback: true });
    }
  });

  it("is on loopback for this machine's own addresses only", () => {
    for (const yes of ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"]) expect(isLoopback(yes)).toBe(true);
    for (const no of ["10.0.0.1", "::ffff:10.0.0.1", "128.0.0.1", "1127.0.0.1", "fe80::1", "127.0.0.1.x", undefined]) {
      expect(isLoopback(no)).toBe(false);
    }
  });

  it("is on loopback over IPv6 and over plain HTTP, too", async () => {
    const listener = await start({ host: "::1", fetch: tellPeer });
    expect(listener.url).toBe(`http://[::1]:${listener.port}`);
    expect(await (await fetch(listener.url)).json()).toEqual({ loopback: true });
  });
});
