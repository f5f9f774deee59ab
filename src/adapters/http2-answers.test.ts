import { once } from "node:events";
import { constants } from "node:http2";
import { Duplex } from "node:stream";
import type * as tls from "node:tls";
import { describe, expect, it } from "vitest";
import { ask, countBytes, session, start, tlsFiles, wire } from "./listener-fixture.ts";

const ANSWER = JSON.stringify({ answer: "x".repeat(20_000) });

/** The bytes that come over a socket, for a client that otherwise has it for itself. */
function overheard(socket: tls.TLSSocket) {
  const heard: Buffer[] = [];
  const duplex = new Duplex({
    read: () => undefined,
    write: (chunk, _, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
  });
  socket.on("data", (chunk: Buffer) => {
    heard.push(chunk);
    duplex.push(chunk);
  });
  return { duplex, bytes: () => Buffer.concat(heard) };
}

/** The DATA frames among bytes, each with its length and whether it ends its stream (RFC 9113, sections 4.1 and 6.1). */
function dataFrames(bytes: Buffer): { readonly length: number; readonly last: boolean }[] {
  const frames = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    if (bytes[at + 3] === 0) frames.push({ length, last: ((bytes[at + 4] ?? 0) & 1) === 1 });
    at += 9 + length;
  }
  return frames;
}

describe("answers over HTTP/2", () => {
  it("end with their last byte, and not in a frame of its own for which no reader of JSON waits", async () => {
    const { url, port } = await start({ tls: await tlsFiles(), fetch: () => new Response(ANSWER) });
    const { socket } = await wire(port, { ALPNProtocols: ["h2"] });
    const { duplex, bytes } = overheard(socket as tls.TLSSocket);
    const client = await session(url, { createConnection: () => duplex });
    expect((await ask(client, "hello")).body).toBe(ANSWER);
    const frames = dataFrames(bytes());
    expect(frames.reduce((sum, { length }) => sum + length, 0)).toBe(ANSWER.length);
    expect(frames.filter(({ last }) => last)).toEqual([frames.at(-1)]);
    expect(frames.at(-1)?.length).toBeGreaterThan(0);
  });

  it("go on coming on a session of which more streams were reset than Node lets pass", async () => {
    const { url } = await start({ tls: await tlsFiles(), fetch: countBytes });
    const client = await session(url);
    for (let batch = 0; batch < 40; batch++) {
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const stream = client.request({ ":method": "POST", ":path": "/" });
          stream.on("error", () => undefined);
          stream.write("hello");
          stream.close(constants.NGHTTP2_CANCEL);
          await once(stream, "close");
        }),
      );
    }
    const stream = client.request({ ":method": "POST", ":path": "/" });
    stream.end("hello");
    const [headers] = await once(stream, "response");
    expect(headers).toMatchObject({ ":status": 200 });
    expect(client.destroyed).toBe(false);
  });

  it("that a broken session takes along leave a line in the log", async () => {
    const { port, lines } = await start({ tls: await tlsFiles(), fetch: countBytes });
    const client = await wire(port, { ALPNProtocols: ["h2"] });
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n no frame of HTTP/2 begins like this");
    await client.ended;
    await expect.poll(() => lines.at(-1)).toMatchObject({ level: "warn", message: "an HTTP/2 session broke" });
  });
});
