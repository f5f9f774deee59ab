import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createPlain, type Server } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localAuthority } from "../../src/cli/local-authority.ts";
import { shadow } from "../../src/cli/shadow.ts";
import { freePort } from "../controlplane/ports.ts";

let folder: string;
let secure: Server;
let plain: Server;
const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-shadow-"));
  const { certFile, keyFile } = await localAuthority(join(folder, "tls"), ["127.0.0.1"]);
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  secure = createServer({ cert, key }, (_, response) => void response.end("<html>"));
  plain = createPlain((_, response) => void response.end("{}"));
  for (const server of [secure, plain]) await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
});
afterAll(async () => {
  secure.close();
  plain.close();
  await rm(folder, { recursive: true });
});

/** What the command says of a binder that it cannot ask. */
async function said(url: string, files: { ca?: string; cert?: string; key?: string } = {}): Promise<string> {
  return shadow(url, { ...files, details: false, output: "table" }).then(
    () => "nothing",
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

describe("berth shadow says in words why a binder cannot be asked", () => {
  const unreached = (why: string) =>
    expect.stringMatching(new RegExp(`^CommandError: the binder at \\S+ cannot be reached: ${why}`));

  it("where nothing listens, and what looks at each step", async () => {
    const message = await said(`https://127.0.0.1:${await freePort()}`);
    expect(message).toEqual(unreached("nothing listens there\\. The command berth doctor"));
    expect(message).not.toContain("ECONNREFUSED");
  });

  it("where nobody vouches for its certificate, and which option names who does", async () => {
    expect(await said(`https://127.0.0.1:${portOf(secure)}`)).toEqual(
      unreached("its certificate is not accepted \\(\\w+\\): --ca has to name the authority that signed it"),
    );
  });

  it("where it speaks plain HTTP", async () => {
    expect(await said(`https://127.0.0.1:${portOf(plain)}`)).toEqual(
      unreached("it speaks plain HTTP where the URL says https"),
    );
  });

  it("where something else answers", async () => {
    const url = `https://127.0.0.1:${portOf(secure)}`;
    expect(await said(url, { ca: join(folder, "tls", "ca.crt") })).toBe(
      `CommandError: ${url} is no binder: it answers HTTP 200 with a text that is no JSON`,
    );
    expect(await said(`http://127.0.0.1:${portOf(plain)}`)).toContain("is no binder of this release");
  });

  it("where a file cannot be used, with its option", async () => {
    const url = `https://127.0.0.1:${portOf(secure)}`;
    const file = join(folder, "no-such.crt");
    expect(await said(url, { cert: file })).toBe(`CommandError: --cert ${file} cannot be read: there is no such file`);
    await writeFile(file, "no PEM");
    expect(await said(url, { cert: file, key: file })).toContain("no connection can be made with these --ca, --cert");
  });

  it.each(["nowhere", "file:///etc/passwd", "localhost:8443"])("where the URL is none: %s", async (url) => {
    expect(await said(url)).toBe(`CommandError: ${url} is no URL of a binder, such as https://10.96.0.20`);
  });
});
