import { describe, expect, it } from "vitest";
import { BrokenBodyError, DISCARDED_BYTES, discardBody, readBody } from "./body.ts";

/** A body that counts the chunks it has given. */
function counting(chunks: Iterable<Uint8Array>) {
  const iterator = chunks[Symbol.iterator]();
  const counted = { given: 0, cancelled: false, body: new ReadableStream<Uint8Array>() };
  counted.body = new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) return controller.close();
      counted.given++;
      controller.enqueue(value);
    },
    cancel() {
      counted.cancelled = true;
    },
  });
  return counted;
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return counting(chunks).body;
}

function* endless(): Generator<Uint8Array> {
  for (;;) yield megabyte;
}

function post(body: ReadableStream<Uint8Array> | string | null, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/", { method: "POST", body, headers, duplex: "half" } as RequestInit);
}

const megabyte = new Uint8Array(1024 * 1024).fill(7);

/** A body that is lost after its first chunk. */
function breakingOff(): ReadableStream<Uint8Array> {
  let given = false;
  return new ReadableStream({
    pull(controller) {
      if (given) controller.error(new Error("connection reset"));
      else controller.enqueue(new Uint8Array([0x7b]));
      given = true;
    },
  });
}

describe("reading a body", () => {
  it("tells a body that broke off from every fault of the server, read or discarded", async () => {
    const read = readBody(post(breakingOff()), { limit: 10 });
    await expect(read).rejects.toThrow(new BrokenBodyError("connection reset"));
    await expect(discardBody(post(breakingOff()), {})).rejects.toBeInstanceOf(BrokenBodyError);
  });

  it("gives the whole body, with or without a declared length", async () => {
    const chunks = [megabyte, new Uint8Array([1, 2, 3]), megabyte];
    const plain = await readBody(post(streamOf(chunks)), { limit: 4 * megabyte.length });
    expect(plain?.byteLength).toBe(2 * megabyte.length + 3);
    expect(plain?.slice(megabyte.length, megabyte.length + 3)).toEqual(new Uint8Array([1, 2, 3]));
    const declared = { "Content-Length": String(2 * megabyte.length + 3) };
    expect(await readBody(post(streamOf(chunks), declared), { limit: 4 * megabyte.length })).toEqual(plain);
  });

  it("gives no bytes for a request without a body", async () => {
    expect(await readBody(post(null), { limit: 10 })).toEqual(new Uint8Array(0));
  });

  it("counts real bytes: a body that outgrows the limit is refused, whatever its headers said, and read to its end", async () => {
    for (const headers of [{}, { "Content-Length": "5" }]) {
      const counted = counting([megabyte, megabyte, megabyte]);
      expect(await readBody(post(counted.body, headers), { limit: megabyte.length })).toBeUndefined();
      expect(counted).toMatchObject({ given: 3, cancelled: false });
    }
  });

  it("cancels a body that does not end", async () => {
    const counted = counting(endless());
    expect(await readBody(post(counted.body), { limit: megabyte.length })).toBeUndefined();
    expect(counted.cancelled).toBe(true);
  });

  it("refuses by the declared length before anything is kept", async () => {
    expect(
      await readBody(post(streamOf([megabyte]), { "Content-Length": "999999999" }), { limit: 1000 }),
    ).toBeUndefined();
  });

  it("takes a body of exactly the limit", async () => {
    expect((await readBody(post(streamOf([megabyte])), { limit: megabyte.length }))?.byteLength).toBe(megabyte.length);
  });
});

describe("discarding a body", () => {
  it("reads it to its end so that the connection can carry the next request", async () => {
    const counted = counting([megabyte, megabyte]);
    await discardBody(post(counted.body), {});
    expect(counted).toMatchObject({ given: 2, cancelled: false });
  });

  it("gives up on a body that does not end", async () => {
    const counted = counting(endless());
    await discardBody(post(counted.body), {});
    expect(counted.cancelled).toBe(true);
    expect(counted.given).toBeLessThanOrEqual(DISCARDED_BYTES / megabyte.length + 2);
  });

  it("has nothing to do for a request without a body, or with one that was read", async () => {
    await discardBody(post(null), {});
    const read = post("x");
    await read.text();
    await discardBody(read, {});
    expect(read.bodyUsed).toBe(true);
  });
});
