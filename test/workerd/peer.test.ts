import { describe, expect, it } from "vitest";
import { cloudflarePeer } from "../../src/adapters/cloudflare-peer.ts";
import { tlsClientAuth } from "../contract/tls-client-auth.ts";

function peerOf(auth: Readonly<Record<string, string>> | undefined, url = "https://berth.example/") {
  return cloudflarePeer(new Request(url, auth ? ({ cf: { tlsClientAuth: auth } } as RequestInit) : {}));
}

describe("the peer of a Worker's request", () => {
  it("has the certificate that Cloudflare has verified", () => {
    expect(peerOf(tlsClientAuth("cluster-a"))).toEqual({
      loopback: false,
      certificate: { names: ["scheduler.cluster-a.example"], sha256: "0".repeat(64) },
    });
  });

  it("has none where it was not verified, was revoked, or was never presented", () => {
    const verified = tlsClientAuth("cluster-a");
    for (const auth of [
      undefined,
      {},
      tlsClientAuth("stranger"),
      tlsClientAuth("revoked"),
      { ...verified, certVerified: "NONE" },
      { ...verified, certVerified: "" },
      { ...verified, certPresented: "0" },
      { certPresented: "1" },
    ]) {
      expect(peerOf(auth)).toEqual({ loopback: false });
    }
  });

  it("is named by the common name alone, wherever it stands, and not by one with escapes", () => {
    const named = (subject: string) =>
      peerOf({ ...tlsClientAuth("cluster-a"), certSubjectDNRFC2253: subject }).certificate?.names;
    expect(named("CN=kube-scheduler,O=system:masters")).toEqual(["kube-scheduler"]);
    expect(named("O=example,CN=kube-scheduler")).toEqual(["kube-scheduler"]);
    for (const subject of ["O=CN=kube-scheduler", "O=x\\,CN=kube-scheduler", "CN=a\\,b", "O=system:masters", ""]) {
      expect(named(subject), subject).toEqual([]);
    }
  });

  it("is on this machine only where the host name is a loopback one", () => {
    for (const host of ["localhost:8787", "127.0.0.1:8787", "127.1.2.3", "[::1]:8787"]) {
      expect(peerOf(undefined, `http://${host}/`).loopback, host).toBe(true);
    }
    for (const host of ["berth.example", "localhost.example", "127.0.0.1.example", "10.0.0.1", "example-localhost"]) {
      expect(peerOf(undefined, `http://${host}/`).loopback, host).toBe(false);
    }
  });
});
