import { X509Certificate } from "node:crypto";
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { localAuthority } from "./local-authority.ts";

const NAMES = ["localhost", "127.0.0.1", "::1"];
const DAY = 24 * 60 * 60 * 1000;

let root: string;
let folder: string;
const file = (name: string) => join(folder, name);
const later = (days: number) => new Date(Date.now() + days * DAY);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "berth-authority-"));
  folder = join(root, ".berth");
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe("localAuthority", () => {
  it("makes an authority and a server certificate for the wanted names", async () => {
    const made = await localAuthority(folder, NAMES);
    expect(made.created).toBe(true);
    const ca = new X509Certificate(await readFile(made.caFile));
    const server = new X509Certificate(await readFile(made.certFile));
    expect(server.verify(ca.publicKey)).toBe(true);
    expect(server.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(server.fingerprint256).toBe(made.fingerprint);
    expect(Buffer.from(made.caData, "base64").toString()).toBe(await readFile(made.caFile, "utf8"));
  });

  it("keeps both: a second start has the same fingerprint and the same caData", async () => {
    const first = await localAuthority(folder, NAMES);
    const second = await localAuthority(folder, ["0:0:0:0:0:0:0:1", "LOCALHOST", "127.0.0.1"]);
    expect(second).toEqual({ ...first, created: false });
  });

  it("lets nobody else read the keys and keeps them out of version control", async () => {
    await localAuthority(folder, NAMES);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const key of ["ca.key", "server.key"]) expect((await stat(file(key))).mode & 0o777).toBe(0o600);
    expect(await readFile(file(".gitignore"), "utf8")).toBe("*\n");
    expect((await readdir(folder)).sort()).toEqual([".gitignore", "ca.crt", "ca.key", "server.crt", "server.key"]);
  });

  it("closes a key that was left open to others", async () => {
    await localAuthority(folder, NAMES);
    await chmod(file("server.key"), 0o644);
    await localAuthority(folder, NAMES);
    expect((await stat(file("server.key"))).mode & 0o777).toBe(0o600);
  });

  it("renews the server certificate within a week of its end, under the same authority", async () => {
    const first = await localAuthority(folder, NAMES);
    expect((await localAuthority(folder, NAMES, later(350))).created).toBe(false);
    const renewed = await localAuthority(folder, NAMES, later(359));
    expect(renewed).toMatchObject({ created: true, caData: first.caData });
    expect(renewed.fingerprint).not.toBe(first.fingerprint);
  });

  it("makes the server certificate anew when other names are wanted", async () => {
    const first = await localAuthority(folder, NAMES);
    const more = await localAuthority(folder, [...NAMES, "10.0.0.5"]);
    expect(more).toMatchObject({ created: true, caData: first.caData });
    expect(new X509Certificate(await readFile(more.certFile)).checkIP("10.0.0.5")).toBe("10.0.0.5");
    expect((await localAuthority(folder, NAMES)).created).toBe(true);
  });

  it("renews the authority, and with it the server certificate, when the authority ends", async () => {
    const first = await localAuthority(folder, NAMES);
    const renewed = await localAuthority(folder, NAMES, later(3650));
    expect(renewed.created).toBe(true);
    expect(renewed.caData).not.toBe(first.caData);
    const ca = new X509Certificate(await readFile(renewed.caFile));
    expect(new X509Certificate(await readFile(renewed.certFile)).verify(ca.publicKey)).toBe(true);
  });

  it("replaces a server certificate that is damaged, incomplete, mismatched or from another authority", async () => {
    const { caData } = await localAuthority(folder, NAMES);
    const other = join(root, "other");
    await localAuthority(other, NAMES);
    const spoil = [
      () => writeFile(file("server.crt"), "nonsense"),
      () => writeFile(file("server.key"), ""),
      () => rm(file("server.key")),
      () => rm(file("server.crt")),
      () => copyFile(join(other, "server.key"), file("server.key")),
      async () => {
        await copyFile(join(other, "server.key"), file("server.key"));
        await copyFile(join(other, "server.crt"), file("server.crt"));
      },
    ];
    for (const damage of spoil) {
      await damage();
      expect(await localAuthority(folder, NAMES)).toMatchObject({ created: true, caData });
      expect((await localAuthority(folder, NAMES)).created).toBe(false);
    }
  });

  it("does not replace a damaged authority behind anybody's back: the message names the file and the way out", async () => {
    await localAuthority(folder, NAMES);
    const kept = await readFile(file("ca.crt"));
    await rm(file("ca.key"));
    await expect(localAuthority(folder, NAMES)).rejects.toThrow(
      `${file("ca.key")} is missing although ${file("ca.crt")} is there: put the file back, or remove ${folder}`,
    );
    await writeFile(file("ca.key"), "x");
    await expect(localAuthority(folder, NAMES)).rejects.toThrow(`${file("ca.key")} is damaged`);
    await copyFile(file("server.key"), file("ca.key"));
    await expect(localAuthority(folder, NAMES)).rejects.toThrow(/ca\.key is not the key of the certificate/);
    await copyFile(file("server.crt"), file("ca.crt"));
    await expect(localAuthority(folder, NAMES)).rejects.toThrow(/ca\.crt is not the certificate of an authority/);
    await writeFile(file("ca.crt"), kept.subarray(0, 100));
    await expect(localAuthority(folder, NAMES)).rejects.toThrow(`${file("ca.crt")} is damaged`);
  });

  it("says in words that the folder cannot be used", async () => {
    await writeFile(folder, "a file");
    await expect(localAuthority(folder, NAMES)).rejects.toThrow(
      `certificates cannot be kept in ${folder}: it is or leads through a file`,
    );
    await expect(localAuthority(join(root, "x"), ["https://localhost"])).rejects.toThrow(/neither a DNS name/);
  });
});
