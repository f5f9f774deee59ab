import { X509Certificate } from "node:crypto";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { describe, expect, it, vi } from "vitest";
import { createAuthority, type Issued, issueClient, issueServer } from "../cli/certificates.ts";
import {
  authority,
  type Line,
  post,
  server,
  session,
  start,
  temporaryFolder,
  tlsFiles,
  wire,
} from "./listener-fixture.ts";

const limits = { certificateMs: 10 };
const renewed = await issueServer(authority, { names: ["localhost", "127.0.0.1"], days: 30 });

const fingerprint = (pair: Issued) => new X509Certificate(pair.certificate).fingerprint256;

/** The fingerprint of the certificate that a new connection gets. */
async function served(port: number): Promise<string> {
  const { socket } = await wire(port, {});
  return (socket as TLSSocket).getPeerCertificate().fingerprint256;
}

const messages = (lines: readonly Line[]) => lines.map((line) => line.message);

describe("certificate files that change", () => {
  it("are used by new connections; open ones go on as they are", async () => {
    const files = await tlsFiles();
    const { port, url, lines } = await start({ tls: files, limits });
    const before = await wire(port, {});
    const open = await session(url);
    await writeFile(files.keyFile, renewed.key);
    await writeFile(files.certFile, renewed.certificate);
    await vi.waitFor(async () => expect(await served(port)).toBe(fingerprint(renewed)));
    expect(lines).toContainEqual({
      level: "info",
      message: "the TLS certificate was replaced",
      fields: { fingerprint: fingerprint(renewed), notAfter: expect.any(String) },
    });
    before.send(post("hello"));
    expect((await before.answer()).body).toBe("5");
    expect(open.destroyed).toBe(false);
  });

  it("are noticed when a symbolic link on the way is swapped, as Kubernetes does with secrets", async () => {
    const folder = await temporaryFolder();
    const version = async (name: string, pair: Issued) => {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "tls.crt"), pair.certificate);
      await writeFile(join(folder, name, "tls.key"), pair.key);
    };
    await version("..1", server);
    await symlink("..1", join(folder, "..data"));
    for (const name of ["tls.crt", "tls.key"]) await symlink(join("..data", name), join(folder, name));
    const files = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
    const { port } = await start({ tls: files, limits });
    expect(await served(port)).toBe(fingerprint(server));

    await version("..2", renewed);
    await symlink("..2", join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
    await rm(join(folder, "..1"), { recursive: true });
    await vi.waitFor(async () => expect(await served(port)).toBe(fingerprint(renewed)));
  });

  it("leave the old certificate in use while they are broken, which is logged once for each fault", async () => {
    const files = await tlsFiles();
    const { port, lines } = await start({ tls: files, limits });
    const complaints = () => messages(lines).filter((message) => message.startsWith("the old TLS certificate stays"));
    await writeFile(files.certFile, renewed.certificate);
    await vi.waitFor(() => expect(complaints()).toHaveLength(1));
    expect(complaints()[0]).toContain(`${files.keyFile} is not the key of the certificate`);
    await rm(files.keyFile);
    await vi.waitFor(() => expect(complaints()).toHaveLength(2));
    expect(complaints()[1]).toContain("there is no such file");
    expect(await served(port)).toBe(fingerprint(server));

    await writeFile(files.keyFile, renewed.key);
    await vi.waitFor(async () => expect(await served(port)).toBe(fingerprint(renewed)));
    expect(complaints()).toHaveLength(2);
  });

  it("replace the authority for clients too: who was trusted before is not any more, not even by resuming", async () => {
    const [old, next] = await Promise.all(["old", "next"].map((name) => createAuthority({ name, days: 1 })));
    if (!old || !next) throw new Error("no authorities");
    const files = await tlsFiles(server, old.certificate);
    const fetch = (_: Request, { peer }: { peer: { certificate?: { names: readonly string[] } } }) =>
      Response.json(peer.certificate?.names ?? []);
    const { port } = await start({ tls: files, limits, fetch });
    const names = async (pair: Issued, options: ConnectionOptions = {}) => {
      const client = await wire(port, { cert: pair.certificate, key: pair.key, ...options });
      client.send(post("x"));
      const body = JSON.parse((await client.answer()).body);
      return { body, ticket: (client.socket as TLSSocket).getSession() };
    };
    const before = await issueClient(old, { name: "before", days: 1 });
    const after = await issueClient(next, { name: "after", days: 1 });
    const trusted = await names(before);
    expect(trusted.body).toEqual(["before"]);

    await writeFile(files.clientCaFile ?? "", next.certificate);
    await vi.waitFor(async () => expect((await names(after)).body).toEqual(["after"]));
    expect((await names(before)).body).toEqual([]);
    expect((await names(before, trusted.ticket ? { session: trusted.ticket } : {})).body).toEqual([]);
  });

  it("are warned about when the certificate ends within a week", async () => {
    const short = await issueServer(authority, { names: ["localhost"], days: 3 });
    const { lines } = await start({ tls: await tlsFiles(short) });
    expect(lines[0]).toMatchObject({
      level: "warn",
      message: expect.stringMatching(/ends soon or has ended: renew it$/),
    });
    const { lines: calm } = await start({ tls: await tlsFiles() });
    expect(calm[0]).toMatchObject({ level: "info", message: "serving with this TLS certificate" });
  });
});
