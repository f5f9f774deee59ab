import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type CertificateSet, DEFAULT_NAMES, makeCertificates } from "./folder.ts";
import { secretManifests } from "./secrets.ts";

const DAY = 24 * 60 * 60 * 1000;
const later = (days: number) => new Date(Date.now() + days * DAY);

let folder: string;
const file = (name: string) => join(folder, name);
const make = (more: Partial<Parameters<typeof makeCertificates>[1]> = {}) =>
  makeCertificates(folder, { names: DEFAULT_NAMES, ...more });

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "berth-certs-")), "certs");
});
afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

/** Who a server with the set's certificate sees when the set's client calls: the common name, if it is verified. */
async function caller(server: CertificateSet, client: CertificateSet): Promise<string> {
  const listener: Server = createServer(
    { cert: server.server.certificate, key: server.server.key, ca: server.trusted, requestCert: true },
    (question, answer) => {
      const socket = question.socket as import("node:tls").TLSSocket;
      answer.end(socket.authorized ? String(socket.getPeerCertificate().subject.CN) : "nobody");
    },
  );
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  const { certificate: cert, key } = client.client;
  const dispatcher = new Agent({ connect: { ca: client.trusted, cert, key } });
  try {
    return await (await request(`https://127.0.0.1:${port}`, { dispatcher })).body.text();
  } finally {
    await dispatcher.close();
    listener.close();
  }
}

describe("makeCertificates", () => {
  it("makes an authority, a server for names and addresses, and a client that the server knows", async () => {
    const set = await make();
    expect(set.made).toEqual(["authority", "server", "client"]);
    expect(set.server.parsed.subjectAltName).toBe(
      "DNS:berth-binder.berth-system.svc, DNS:berth-binder.berth-system.svc.cluster.local, DNS:localhost, IP Address:127.0.0.1",
    );
    expect(await caller(set, set)).toBe("kube-scheduler");
  });

  it("keeps keys to their owner, also one that others could read", async () => {
    await make();
    for (const name of ["ca.key", "server.key", "client.key"]) {
      expect((await stat(file(name))).mode & 0o777, name).toBe(0o600);
    }
    await chmod(file("ca.key"), 0o644);
    await make();
    expect((await stat(file("ca.key"))).mode & 0o777).toBe(0o600);
  });

  it("leaves everything as it is when it lasts", async () => {
    const first = await make();
    const second = await make({ now: later(300) });
    expect(second.made).toEqual([]);
    expect(second.server.certificate).toBe(first.server.certificate);
  });

  it("renews server and client a month before they end, by the same authority", async () => {
    const first = await make();
    const second = await make({ now: later(336) });
    expect(second.made).toEqual(["server", "client"]);
    expect(second.caData).toBe(first.caData);
  });

  it("renews before that when it is told to", async () => {
    await make();
    expect((await make({ renew: true })).made).toEqual(["server", "client"]);
  });

  it("issues another server certificate for other names, and another client for another name", async () => {
    await make();
    expect((await make({ names: ["10.0.0.5"] })).made).toEqual(["server"]);
    expect((await make({ names: ["10.0.0.5"], client: "cluster-b" })).made).toEqual(["client"]);
  });

  it("issues nothing that would outlive its authority", async () => {
    const set = await make({ authorityDays: 40, days: 365 });
    expect(set.server.parsed.validToDate.getTime()).toBeLessThanOrEqual(set.authority.parsed.validToDate.getTime());
  });

  it("never replaces an authority by itself: one that has ended is said to have", async () => {
    await make();
    const before = await readFile(file("ca.crt"), "utf8");
    await expect(make({ now: later(3651) })).rejects.toThrow(/ended on .*: make another with --new-authority/);
    expect(await readFile(file("ca.crt"), "utf8")).toBe(before);
  });

  it.each([
    ["ca.key is lost", () => rm(file("ca.key")), "ca.key is missing although"],
    ["ca.crt is damaged", () => writeFile(file("ca.crt"), "no PEM"), "holds no certificate in PEM"],
    ["ca.crt is no authority's", async () => writeFile(file("ca.crt"), await readFile(file("server.crt"))), "is not"],
  ])("stops when %s, instead of making another one", async (_, damage, message) => {
    await make();
    const key = await readFile(file("ca.key"), "utf8").catch(() => undefined);
    await damage();
    await expect(make()).rejects.toThrow(message);
    if (key) expect(await readFile(file("ca.key"), "utf8").catch(() => key)).toBe(key);
  });

  it("makes damaged server and client certificates anew", async () => {
    await make();
    await rm(file("client.key"));
    await writeFile(file("server.crt"), "no PEM");
    expect((await make()).made).toEqual(["server", "client"]);
  });

  it("changes its authority in steps in which every old one and every new one understand each other", async () => {
    const old = await make();
    const between = await make({ newAuthority: true });
    expect(between.made).toEqual(["authority"]);
    expect(between.server.certificate).toBe(old.server.certificate);
    expect(await readFile(between.trustedFile, "utf8")).toBe(between.authority.certificate + old.authority.certificate);
    const next = await make({ renew: true });
    expect(next.made).toEqual(["server", "client"]);
    for (const [server, client] of [
      [old, between],
      [between, old],
      [between, next],
      [next, between],
    ] as const) {
      expect(await caller(server, client)).toBe("kube-scheduler");
    }
    await expect(caller(next, old)).rejects.toThrow(/self-signed|unable to verify|issuer/);
    await rm(file("previous-ca.crt"));
    await rm(file("previous-ca.key"));
    expect((await make()).trusted).toBe(next.authority.certificate);
  });

  it("says what is wrong with a folder that is a file", async () => {
    await make();
    folder = file("ca.crt");
    await expect(make()).rejects.toThrow(/certificates cannot be kept in .*ca\.crt: it is or leads through a file/);
  });
});

describe("secretManifests", () => {
  it("gives the Secrets that infra/ mounts, each with the authority of the other side", async () => {
    const set = await make();
    const [server, client] = parseAllDocuments(secretManifests(set)).map((document) => document.toJS());
    expect(server).toMatchObject({
      kind: "Secret",
      type: "kubernetes.io/tls",
      metadata: { name: "berth-binder-tls", namespace: "berth-system" },
    });
    expect(client.metadata.name).toBe("berth-scheduler-client");
    const authority = new X509Certificate(server.stringData["ca.crt"]);
    expect(new X509Certificate(client.stringData["tls.crt"]).verify(authority.publicKey)).toBe(true);
  });
});
