import { once } from "node:events";
import { constants } from "node:http2";
import { describe, expect, it } from "vitest";
import { ask, countBytes, post, session, start, streamAnswer, tlsFiles, type Wire, wire } from "./listener-fixture.ts";

const MB = 1024 * 1024;
const refuse = () => new Response("who are you?\n", { status: 401 });

/** Refuses with 413 after reading a part, as a body limit does. */
async function readSome(request: Request): Promise<Response> {
  const reader = request.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  return new Response("too large\n", { status: 413 });
}

/** Writes a body piece by piece; stops without complaint when the connection ends. */
async function sendSlowly(client: Wire, bytes: number): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, "x");
  for (let sent = 0; sent < bytes && !client.socket.destroyed; sent += piece.byteLength) {
    client.send(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const speakers = [
  { over: "HTTP/1.1", connect: async (port: number) => wire(port), tls: async () => ({}) },
  {
    over: "HTTP/1.1 over TLS",
    connect: (port: number) => wire(port, { ALPNProtocols: ["http/1.1"] }),
    tls: async () => ({ tls: await tlsFiles() }),
  },
];

describe.each(speakers)("an answer before the body's end, $over", ({ connect, tls }) => {
  it.each([
    ["unread", refuse, 401],
    ["partly read", readSome, 413],
  ])(
    "reaches a client that is still sending a body that was left %s, and closes in so many words",
    async (_, fetch, status) => {
      const { port } = await start({ fetch, ...(await tls()) });
      const client = await connect(port);
      client.send(post("x".repeat(100_000), 5 * MB));
      const sending = sendSlowly(client, 5 * MB - 100_000);
      expect(await client.answer()).toMatchObject({ status, headers: { connection: "close" } });
      await sending;
      await client.ended;
    },
  );

  it.each([
    ["unread", refuse, 401],
    ["partly read", readSome, 413],
  ])("reaches a client that reads nothing until it has sent everything, the body left %s", async (_, fetch, status) => {
    const { port } = await start({ fetch, ...(await tls()) });
    const client = await connect(port);
    client.socket.pause();
    client.send(post("", 32 * MB));
    await sendSlowly(client, 32 * MB);
    if (client.socket.writableLength > 0) await once(client.socket, "drain");
    client.socket.resume();
    expect((await client.answer()).status).toBe(status);
  });

  it("ends the connection when the client goes on sending for too long", async () => {
    const { port } = await start({ fetch: refuse, limits: { lingerMs: 50 }, ...(await tls()) });
    const client = await connect(port);
    client.send(post("x", 5 * MB));
    expect((await client.answer()).status).toBe(401);
    await once(client.socket, "close");
  });

  it("keeps the connection when the body was there in time, read or not", async () => {
    const { port } = await start({
      fetch: (request, env) => (request.url.endsWith("/filter") ? refuse() : countBytes(request, env)),
      ...(await tls()),
    });
    const client = await connect(port);
    for (let round = 0; round < 3; round++) {
      client.send(post("x".repeat(1000)));
      const answer = await client.answer();
      expect(answer).toMatchObject({ status: 401, body: "who are you?\n" });
      expect(answer.headers["connection"]).not.toBe("close");
    }
    client.send(post("hello").replace("/filter", "/other"));
    expect(await client.answer()).toMatchObject({ status: 200, body: "5" });
  });
});

describe("an answer before the body's end, HTTP/2", () => {
  it.each([
    ["unread", refuse, 401],
    ["partly read", readSome, 413],
  ])(
    "reaches a client whose body was left %s; the stream is reset and the session goes on",
    async (_, fetch, status) => {
      let first = true;
      const { url } = await start({
        tls: await tlsFiles(),
        fetch: (request, env) => {
          const answer = first ? fetch(request) : countBytes(request, env);
          first = false;
          return answer;
        },
      });
      const client = await session(url);
      const stream = client.request({ ":method": "POST", ":path": "/p/filter" });
      stream.write("x".repeat(100_000));
      const answer = await streamAnswer(stream);
      expect(answer).toMatchObject({ status, reset: constants.NGHTTP2_NO_ERROR });
      const next = client.request({ ":method": "POST", ":path": "/p/filter" });
      next.end("hello");
      expect(await streamAnswer(next)).toMatchObject({ status: 200, body: "5" });
    },
  );
});

describe("a request that does not arrive", () => {
  const limits = { headersMs: 300, requestMs: 400 };

  it.each(speakers)("is answered with 408 and its connection ends, $over", async ({ connect, tls }) => {
    const { port } = await start({ limits, ...(await tls()) });
    const slowBody = await connect(port);
    slowBody.send(post("x", 10));
    expect(await slowBody.answer()).toMatchObject({ status: 408, headers: { connection: "close" } });
    await slowBody.ended;
    const slowHeaders = await connect(port);
    slowHeaders.send("POST /p/filter HTTP/1.1\r\nHost: loc");
    expect((await slowHeaders.answer()).status).toBe(408);
    const silent = await connect(port);
    await silent.ended;
  });

  it("is answered with 408 and its stream ends, HTTP/2; the session goes on", async () => {
    const { url, lines } = await start({ tls: await tlsFiles(), limits });
    const client = await session(url);
    const stream = client.request({ ":method": "POST", ":path": "/p/filter" });
    stream.write("x");
    expect(await streamAnswer(stream)).toMatchObject({ status: 408 });
    expect(await ask(client, "hello")).toMatchObject({ status: 200, body: "5" });
    expect(lines.filter((line) => line.level === "error")).toEqual([]);
  });

  it("is not confused with an app that takes its time over a request that is whole", async () => {
    const slowly = async (request: Request) => {
      await new Promise((resolve) => setTimeout(resolve, 2 * limits.requestMs));
      return new Response(await request.text());
    };
    const { url, port } = await start({ tls: await tlsFiles(), limits, fetch: slowly });
    const over2 = ask(await session(url), "hello");
    const client = await wire(port, {});
    client.send(post("hello"));
    expect(await client.answer()).toMatchObject({ status: 200, body: "hello" });
    expect(await over2).toMatchObject({ status: 200, body: "hello" });
  });
});
