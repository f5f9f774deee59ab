import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { constants } from "node:http2";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { issueServer } from "../cli/certificates.ts";
import {
  ask,
  authority,
  post,
  server,
  session,
  start,
  streamAnswer,
  temporaryFolder,
  tlsFiles,
  wire,
} from "./listener-fixture.ts";

describe("what is spoken", () => {
  it("is HTTP/2 over TLS for clients that offer it, as Go's does", async () => {
    const { url } = await start({ tls: await tlsFiles() });
    const client = await session(url);
    expect(client.alpnProtocol).toBe("h2");
    expect(await ask(client, "hello")).toEqual({ status: 200, body: "5", reset: constants.NGHTTP2_NO_ERROR });
  });

  it("is HTTP/1.1 over TLS for clients that offer only that, or nothing", async () => {
    const { port } = await start({ tls: await tlsFiles() });
    for (const options of [{ ALPNProtocols: ["http/1.1"] }, {}]) {
      const client = await wire(port, options);
      client.send(post("hello"));
      expect(await client.answer()).toMatchObject({ status: 200, body: "5" });
    }
  });

  it("is TLS 1.2 and newer, not older", async () => {
    const { port, lines } = await start({ tls: await tlsFiles() });
    const client = await wire(port, { maxVersion: "TLSv1.2" });
    client.send(post("hello"));
    expect((await client.answer()).status).toBe(200);
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await expect(wire(port, old)).rejects.toThrow(/protocol/i);
    expect(lines.at(-1)).toMatchObject({ level: "warn", message: "a TLS handshake failed" });
  });

  it("logs failed handshakes of a kind once in a while, also when the clock is set back", async () => {
    const { port, lines } = await start({ tls: await tlsFiles() });
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const failed = () => lines.filter((line) => line.message === "a TLS handshake failed");
    for (let time = 0; time < 3; time++) await expect(wire(port, old)).rejects.toThrow(/protocol/i);
    expect(failed()).toHaveLength(1);
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
    vi.spyOn(Date, "now").mockReturnValue(Date.now() - 3_600_000);
    await expect(wire(port, old)).rejects.toThrow(/protocol/i);
    vi.restoreAllMocks();
    expect(failed()).toHaveLength(2);
  });

  it("is plain HTTP/1.1 without a certificate", async () => {
    const { url, port } = await start();
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await (await fetch(url, { method: "POST", body: "hello" })).text()).toBe("5");
  });

  it("lets a client send 32 MiB on a stream and on a session before it waits", async () => {
    const { url } = await start({ tls: await tlsFiles() });
    const client = await session(url);
    expect(client.remoteSettings.initialWindowSize).toBe(32 * 1024 * 1024);
    await ask(client);
    expect(client.state.remoteWindowSize).toBeGreaterThan(31 * 1024 * 1024);
  });

  it("carries ten large requests and their echoes at once in one HTTP/2 session", async () => {
    const { url } = await start({
      tls: await tlsFiles(),
      fetch: async (request) => new Response(await request.arrayBuffer()),
    });
    const client = await session(url, { maxSessionMemory: 1024 });
    const body = "x".repeat(5 * 1024 * 1024);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(client, body)));
    for (const answer of answers) expect([answer.status, answer.body.length]).toEqual([200, body.length]);
  });

  it("answers others in an HTTP/2 session while a large answer waits to be read", async () => {
    const large = new Uint8Array(14 * 1024 * 1024);
    const fetch = (request: Request) => new Response(new URL(request.url).pathname === "/large" ? large : "small");
    const { url } = await start({ tls: await tlsFiles(), fetch });
    const client = await session(url);
    await once(client.request({ ":path": "/large" }), "response");
    expect(await ask(client)).toMatchObject({ status: 200, body: "small" });
  });

  it.each([
    [16, {}],
    [4, { headerBytes: 4 * 1024 }],
  ])("refuses headers beyond %i KiB over HTTP/1.1 and HTTP/2", async (kib, limits) => {
    const { port, url } = await start({ tls: await tlsFiles(), limits });
    const padding = "x".repeat((kib + 1) * 1024);
    const client = await wire(port, {});
    client.send(`GET / HTTP/1.1\r\nHost: localhost\r\nPadding: ${padding}\r\n\r\n`);
    expect(await client.answer()).toMatchObject({ status: 431, headers: { connection: "close" } });
    const stream = (await session(url)).request({ ":path": "/", padding });
    expect((await streamAnswer(stream)).reset).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
});

describe("a listener that cannot start", () => {
  it("says that the port is taken, and what to do", async () => {
    const { port } = await start();
    await expect(start({ port })).rejects.toThrow(
      `port ${port} of 127.0.0.1 is taken: stop the program that listens there or choose another port`,
    );
    await expect(start({ port, tls: await tlsFiles() })).rejects.toThrow(/is taken/);
  });

  it("refuses plain HTTP where others can listen in, unless told otherwise", async () => {
    for (const host of ["0.0.0.0", "::", "10.0.0.5", "berth.example.com"]) {
      await expect(start({ host })).rejects.toThrow(`plain HTTP on ${host} would send pods and credentials readable`);
    }
    const { url, port } = await start({ host: "0.0.0.0", insecure: true });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    await start({ host: "localhost" });
  });

  it("says that the host is no address of this machine, or no name that can be resolved", async () => {
    const tls = await tlsFiles();
    await expect(start({ tls, host: "192.0.2.1" })).rejects.toThrow("192.0.2.1 is not an address of this machine");
    await expect(start({ tls, host: "no-such-host.invalid" })).rejects.toThrow(/can resolve: listen on an address/);
  });

  it("names a missing, unreadable or damaged certificate, key or authority file", async () => {
    const good = await tlsFiles(server, authority.certificate);
    const folder = await temporaryFolder();
    const none = join(folder, "none.pem");
    const text = join(folder, "text.pem");
    const cut = join(folder, "cut.pem");
    await writeFile(text, "hello\n");
    await writeFile(cut, server.certificate.replace(/\n.{64}\n/, "\n"));
    const cases = [
      [{ ...good, certFile: none }, `the server's certificate cannot be read from ${none}: there is no such file`],
      [{ ...good, keyFile: none }, `the server's private key cannot be read from ${none}`],
      [{ ...good, keyFile: folder }, "it is a folder"],
      [{ ...good, clientCaFile: none }, `the clients' authority cannot be read from ${none}`],
      [{ ...good, certFile: text }, `${text} holds no certificate in PEM`],
      [{ ...good, certFile: cut }, `${cut} holds no certificate in PEM, or a damaged one`],
      [{ ...good, clientCaFile: text }, `${text} holds no certificate in PEM`],
      [{ ...good, keyFile: text }, `${text} holds no private key in PEM`],
    ] as const;
    for (const [tls, message] of cases) await expect(start({ tls })).rejects.toThrow(message);
  });

  it("says that a key needs a passphrase, or does not belong to the certificate", async () => {
    const files = await tlsFiles();
    const other = await tlsFiles(await issueServer(authority, { names: ["localhost"], days: 1 }));
    await expect(start({ tls: { ...files, keyFile: other.keyFile } })).rejects.toThrow(
      `${other.keyFile} is not the key of the certificate in ${files.certFile}`,
    );
    await writeFile(
      other.keyFile,
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    await expect(start({ tls: other })).rejects.toThrow(`${other.keyFile} is protected by a passphrase`);
  });
});
