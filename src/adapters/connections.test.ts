import { once } from "node:events";
import * as http2 from "node:http2";
import * as tls from "node:tls";
import { describe, expect, it, vi } from "vitest";
import { ask, authority, post, session, start, streamAnswer, tlsFiles, wire } from "./listener-fixture.ts";

/** An app whose answers wait until the test lets them go. */
function gate() {
  let open = () => {};
  let arrive = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const fetch = async () => {
    arrive();
    await opened;
    return new Response("done");
  };
  return { fetch, open, arrived };
}

const LONG = 600_000;

const INTERNAL_ERROR = '{"error":"internal error; the log has the cause"}';

describe("stopping", () => {
  it("lets HTTP/1.1 requests in flight finish and closes their connections in so many words", async () => {
    const { fetch, open, arrived } = gate();
    const { port, stop } = await start({ fetch });
    const client = await wire(port);
    client.send(post("x"));
    await arrived;
    const stopped = stop(LONG);
    open();
    expect(await client.answer()).toMatchObject({ status: 200, body: "done", headers: { connection: "close" } });
    await client.ended;
    await stopped;
  });

  it("closes a connection whose answer had begun before, once it is through", async () => {
    let finish = () => {};
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("be"));
        finish = () => {
          controller.enqueue(new TextEncoder().encode("gun"));
          controller.close();
        };
      },
    });
    const fetch = () => new Response(body, { headers: { "content-length": "5" } });
    const { port, stop } = await start({ fetch });
    const client = await wire(port);
    client.send(post("x"));
    await once(client.socket, "data");
    const stopped = stop(LONG);
    finish();
    expect((await client.answer()).body).toBe("begun");
    await client.ended;
    await stopped;
  });

  it("tells HTTP/2 clients, lets their requests in flight finish and takes no new ones", async () => {
    const { fetch, open, arrived } = gate();
    const { url, stop } = await start({ fetch, tls: await tlsFiles() });
    const client = await session(url);
    const answer = ask(client, "x");
    await arrived;
    const stopped = stop(LONG);
    await once(client, "goaway");
    open();
    expect(await answer).toMatchObject({ status: 200, body: "done" });
    await stopped;
    await expect(session(url)).rejects.toThrow(/ECONNREFUSED/);
  });

  it("closes idle connections at once, whatever they speak", async () => {
    const { url, port, stop } = await start({ tls: await tlsFiles() });
    const used = await wire(port, {});
    used.send(post("x"));
    await used.answer();
    const idle = await session(url);
    await ask(idle);
    const gone = once(idle, "close");
    await stop(LONG);
    await Promise.all([used.ended, gone]);
  });

  it("does not wait for connections that never sent a request", async () => {
    const plain = await start();
    const secure = await start({ tls: await tlsFiles() });
    const silent = [await wire(plain.port), await wire(secure.port, {})];
    await Promise.all([plain.stop(LONG), secure.stop(LONG)]);
    await Promise.all(silent.map((client) => client.ended));
  });

  it("ends an HTTP/2 session whose handshake was under way", async () => {
    const { url, port, stop } = await start({ tls: await tlsFiles() });
    const early = await wire(port);
    await ask(await session(url));
    const stopped = stop(LONG);
    const late = http2.connect(url, {
      createConnection: () => tls.connect({ socket: early.socket, ca: authority.certificate, ALPNProtocols: ["h2"] }),
    });
    await once(late, "close");
    await stopped;
  });

  it("cuts what is still open after the grace time", async () => {
    const { fetch, arrived } = gate();
    const { url, port, stop } = await start({ fetch, tls: await tlsFiles() });
    const one = await wire(port, {});
    one.send(post("x"));
    const two = (await session(url)).request({ ":method": "POST", ":path": "/p/filter" });
    const cut = streamAnswer(two);
    const unfinished = await wire(port);
    await arrived;
    await stop(20);
    await Promise.all([one.ended, unfinished.ended]);
    expect((await cut).status).toBeUndefined();
  });

  it("may be asked for twice: the shorter grace counts", async () => {
    const { fetch, arrived } = gate();
    const { port, stop } = await start({ fetch });
    const client = await wire(port);
    client.send(post("x"));
    await arrived;
    const first = stop(LONG);
    await stop(0);
    await first;
    await client.ended;
  });
});

describe("a connection between requests", () => {
  it("stays open longer than Go keeps it for reuse", async () => {
    for (const tls of [{}, { tls: await tlsFiles() }]) {
      const { port } = await start(tls);
      const client = await wire(port, "tls" in tls ? {} : undefined);
      client.send(post("x"));
      const seconds = /timeout=(\d+)/.exec((await client.answer()).headers["keep-alive"] ?? "");
      expect(Number(seconds?.[1])).toBe(120);
    }
  });

  it("ends when nothing has come for the idle time, HTTP/1.1 and HTTP/2", async () => {
    const { url, port } = await start({ tls: await tlsFiles(), limits: { idleMs: 200 } });
    const client = await session(url);
    const gone = once(client, "close");
    const one = await wire(port, {});
    one.send(post("x"));
    await one.answer();
    await Promise.all([one.ended, gone]);
  });
});

describe("a fault in the app", () => {
  it("is answered with 500 and logged; neither answer nor log holds a stack trace", async () => {
    const fetch = () => {
      throw new Error("inventory missing");
    };
    const { url, port, lines } = await start({ fetch, tls: await tlsFiles() });
    const client = await wire(port, {});
    client.send(post("x"));
    expect(await client.answer()).toMatchObject({ status: 500, body: INTERNAL_ERROR });
    expect(await ask(await session(url))).toMatchObject({ status: 500, body: INTERNAL_ERROR });
    expect(lines.slice(1)).toEqual(
      [1, 2].map(() => ({
        level: "error",
        message: "a request failed inside the server",
        fields: { error: "inventory missing" },
      })),
    );
  });

  it("is not seen in a client that leaves before its body was read", async () => {
    const { url, port, lines } = await start({ tls: await tlsFiles() });
    const one = await wire(port, {});
    one.send(post("x", 100));
    const two = await session(url);
    two.request({ ":method": "POST", ":path": "/p/filter" }).write("x");
    expect((await ask(await session(url), "hello")).body).toBe("5");
    one.socket.destroy();
    two.destroy();
    const left = () => lines.filter((line) => line.message === "a client left before its request was read");
    await vi.waitFor(() => expect(left()).toHaveLength(2));
    expect(lines.filter((line) => line.level !== "info")).toEqual([]);
  });

  it("does not let a malformed Host header through to the app", async () => {
    const { port } = await start();
    const client = await wire(port);
    client.send("GET / HTTP/1.1\r\nHost: a b/c\r\n\r\n");
    expect(await client.answer()).toMatchObject({
      status: 400,
      body: expect.stringMatching(/^\{"error":"bad request: /),
    });
  });
});
