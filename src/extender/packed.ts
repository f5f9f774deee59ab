import { ShapeError } from "../protocol/scan.ts";

/** Smaller answers do not become smaller. */
const WORTH_PACKING = 1_000;

/** True for a body that came packed with gzip. */
export function isPacked(request: Request): boolean {
  return request.headers.get("content-encoding")?.trim().toLowerCase() === "gzip";
}

/**
 * Unpacks a body. Real bytes count: what unpacks to more than the limit is given up as soon as it shows.
 *
 * @returns undefined when there are more bytes than `limit`
 * @throws {ShapeError} for what is not gzip
 */
export async function unpack(packed: Uint8Array, limit: number): Promise<Uint8Array | undefined> {
  // A copy, for the stream reads it when it likes, and the bytes may be given back by then.
  const reader = through(packed.slice(), new DecompressionStream("gzip")).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      if (size > limit) {
        await reader.cancel();
        return undefined;
      }
      chunks.push(part.value);
    }
  } catch {
    throw new ShapeError("the body says that it is packed with gzip and is not");
  }
  return joined(chunks, size);
}

/** An answer's JSON, packed when the asker takes that and it is worth it. */
export async function packedJson(
  request: Request,
  answer: unknown,
): Promise<{ readonly body: string | ArrayBuffer; readonly headers: Record<string, string> }> {
  const text = JSON.stringify(answer);
  const headers = { "Content-Type": "application/json" };
  if (text.length < WORTH_PACKING || !/\bgzip\b/i.test(request.headers.get("accept-encoding") ?? "")) {
    return { body: text, headers };
  }
  const stream = through(new TextEncoder().encode(text), new CompressionStream("gzip"));
  const body = await new Response(stream).arrayBuffer();
  return { body, headers: { ...headers, "Content-Encoding": "gzip", Vary: "Accept-Encoding" } };
}

function through(
  bytes: Uint8Array<ArrayBuffer>,
  by: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> {
  const body = new Response(bytes).body;
  if (body === null) throw new Error("a response of bytes has a body");
  return body.pipeThrough(by as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}
