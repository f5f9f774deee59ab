import { createPrivateKey, X509Certificate } from "node:crypto";
import type { AddressInfo } from "node:net";
import * as tls from "node:tls";
import { describe, expect, it } from "vitest";
import { createAuthority, type Issued, issueClient, issueServer, normalName } from "./certificates.ts";

const authority = await createAuthority({ name: "Test authority", days: 10 });

/** Connects as Go does: trusting only the given authority and comparing the host with the alternative names alone. */
async function handshake(server: Issued, host: string, ca: string): Promise<string> {
  const listener = tls.createServer({ cert: server.certificate, key: server.key }, (socket) => socket.end());
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  try {
    return await new Promise((resolve) => {
      const { port } = listener.address() as AddressInfo;
      const servername = /^[\d.:]+$/.test(host) ? {} : { servername: host };
      const socket = tls.connect({ host: "127.0.0.1", port, ca, ...servername, checkServerIdentity: byNames(host) });
      socket.once("secureConnect", () => resolve("trusted"));
      socket.once("error", (error) => resolve(error.message));
      socket.once("close", () => resolve("closed"));
    });
  } finally {
    listener.close();
  }
}

function byNames(host: string): (_: string, peer: tls.PeerCertificate) => Error | undefined {
  return (_, peer) => tls.checkServerIdentity(host, { ...peer, subject: { ...peer.subject, CN: "ignored" } });
}

describe("createAuthority", () => {
  it("makes an authority that may sign certificates and nothing below further authorities", () => {
    const certificate = new X509Certificate(authority.certificate);
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toBe("CN=Test authority");
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    expect(certificate.checkPrivateKey(createPrivateKey(authority.key))).toBe(true);
  });

  it("starts an hour in the past, so that a slow clock accepts it, and ends after the days asked for", async () => {
    const now = new Date("2026-05-01T12:00:00Z");
    const { certificate } = await createAuthority({ name: "x", days: 3, now });
    const { validFromDate, validToDate } = new X509Certificate(certificate);
    expect(validFromDate.toISOString()).toBe("2026-05-01T11:00:00.000Z");
    expect(validToDate.toISOString()).toBe("2026-05-04T12:00:00.000Z");
  });
});

describe("issueServer", () => {
  const names = ["localhost", "127.0.0.1", "10.0.0.5", "[::1]", "Berth.kube-system.svc.", "*.example.com"];

  it("is trusted by a client that knows only the authority, by DNS name and by IP address", async () => {
    const server = await issueServer(authority, { names, days: 2 });
    expect(await handshake(server, "127.0.0.1", authority.certificate)).toBe("trusted");
    expect(await handshake(server, "localhost", authority.certificate)).toBe("trusted");
    expect(await handshake(server, "berth.kube-system.svc", authority.certificate)).toBe("trusted");
    expect(await handshake(server, "a.example.com", authority.certificate)).toBe("trusted");
  });

  it("is refused for a host that is not among its names and by a client that trusts another authority", async () => {
    const server = await issueServer(authority, { names: ["localhost"], days: 2 });
    expect(await handshake(server, "10.0.0.6", authority.certificate)).toMatch(/not in the cert's list|altnames/);
    expect(await handshake(server, "Berth server", authority.certificate)).toMatch(/altnames/);
    const stranger = await createAuthority({ name: "Test authority", days: 1 });
    expect(await handshake(server, "localhost", stranger.certificate)).toMatch(/certificate/);
  });

  it("holds the IP address of https://10.0.0.5:9443 as an IP address, which Go requires", async () => {
    const certificate = new X509Certificate((await issueServer(authority, { names, days: 2 })).certificate);
    expect(certificate.checkIP("10.0.0.5")).toBe("10.0.0.5");
    expect(certificate.checkIP("::1")).toBe("::1");
    expect(certificate.subjectAltName).not.toContain("DNS:10.0.0.5");
    expect(certificate.checkHost("10.0.0.5", { subject: "never" })).toBeUndefined();
  });

  it("does not carry a host in its common name", async () => {
    const certificate = new X509Certificate((await issueServer(authority, { names, days: 2 })).certificate);
    expect(certificate.subject).toBe("CN=Berth server");
  });

  it("serves servers only, names its issuer, is no authority, and has a serial number of its own", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => issueServer(authority, { names: ["a.b"], days: 2 })));
    const certificate = new X509Certificate(one?.certificate ?? "");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
    expect(certificate.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    expect(certificate.serialNumber).not.toBe(new X509Certificate(two?.certificate ?? "").serialNumber);
  });

  it("refuses a URL, a port, an empty list and half an IP address in plain words", async () => {
    for (const name of ["https://a.b", "a.b:443", "", "1.2.3", "300.1.1.1", "a b", "-a", "fe80::1%eth0"]) {
      await expect(issueServer(authority, { names: [name], days: 1 })).rejects.toThrow(/neither a DNS name nor an IP/);
    }
    await expect(issueServer(authority, { names: [], days: 1 })).rejects.toThrow(/at least one DNS name or IP/);
  });

  it("refuses an authority whose key it cannot use", async () => {
    const broken = { ...authority, key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" };
    await expect(issueServer(broken, { names: ["a.b"], days: 1 })).rejects.toThrow(/not an ECDSA P-256 key/);
  });
});

describe("issueClient", () => {
  it("carries the caller's name whole, whatever characters are in it, and serves clients only", async () => {
    const name = 'cluster "a", O=system:masters';
    const certificate = new X509Certificate((await issueClient(authority, { name, days: 2 })).certificate);
    expect(certificate.toLegacyObject().subject).toMatchObject({ CN: name });
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(certificate.subjectAltName).toBeUndefined();
  });

  it("refuses a name that does not fit into a certificate", async () => {
    await expect(issueClient(authority, { name: "", days: 1 })).rejects.toThrow(/0 characters/);
    await expect(issueClient(authority, { name: "x".repeat(65), days: 1 })).rejects.toThrow(/65 characters/);
  });
});

describe("normalName", () => {
  it("spells every name in one way", () => {
    expect(["[::1]", "0:0:0:0:0:0:0:1", "Foo.Svc.", "10.0.0.5"].map(normalName)).toEqual([
      "::1",
      "::1",
      "foo.svc",
      "10.0.0.5",
    ]);
  });
});
