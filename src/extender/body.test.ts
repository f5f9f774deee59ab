import { describe, expect, it } from "vitest";
import { discardBody, readBody } from "./body.ts";

function streamOf(chunks: readonly Uint8Array[], onCancel: () => void = () => undefined): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[next++];
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
    cancel: onCancel,
  });
}

function post(body: ReadableStream<Uint8Array> | string | null, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/", { method: "POST", body, headers, duplex: "half" } as RequestInit);
}

const megabyte = new Uint8Array(1024 * 1024).fill(7);

describe("reading a body", () => {
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

  it("counts real bytes: a body that outgrows the limit is refused and cancelled, whatever its headers said", async () => {
    for (const headers of [{}, { "Content-Length": "5" }]) {
      let cancelled = false;
      const body = streamOf([megabyte, megabyte, megabyte], () => {
        cancelled = true;
      });
      expect(await readBody(post(body, headers), { limit: megabyte.length })).toBeUndefined();
      expect(cancelled).toBe(true);
    }
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
    const request = post(streamOf([megabyte, megabyte]));
    expect(await discardBody(request, { limit: 4 * megabyte.length })).toBe(true);
    expect(request.bodyUsed).toBe(true);
  });

  it("gives up beyond the limit, so that the connection is closed instead", async () => {
    expect(await discardBody(post(streamOf([megabyte, megabyte])), { limit: megabyte.length })).toBe(false);
  });

  it("has nothing to do for a request without a body", async () => {
    expect(await discardBody(post(null), { limit: 0 })).toBe(true);
  });
});
