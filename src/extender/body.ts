/** What is read at once where the runtime lets the reader bring its buffer: workerd hands out 4 KB otherwise. */
const CHUNK = 256 * 1024;

/**
 * Reads a request's body, counting real bytes.
 *
 * @returns the bytes, or undefined when there are more than `limit`; the rest is then discarded
 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array | undefined> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > limit) {
    await discardBody(request, limit);
    return undefined;
  }
  if (!request.body) return new Uint8Array(0);
  const buffer = new Growing(declared ?? CHUNK, limit);
  const chunks = chunksOf(request.body);
  for await (const chunk of chunks) {
    if (!buffer.append(chunk)) {
      await chunks.return(undefined);
      return undefined;
    }
  }
  return buffer.bytes();
}

/**
 * Reads and forgets a body that nobody will use, so that the connection can carry its next request.
 *
 * @returns false when there were more than `limit` bytes: the body is cancelled and the connection should close
 */
export async function discardBody(request: Request, limit: number): Promise<boolean> {
  if (!request.body || request.bodyUsed) return true;
  let seen = 0;
  for await (const chunk of chunksOf(request.body)) {
    seen += chunk.byteLength;
    if (seen > limit) return false;
  }
  return true;
}

/** The length the client promises, where it promises one. */
function declaredLength(request: Request): number | undefined {
  const header = request.headers.get("content-length");
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** One buffer that grows, so that a large body is never held twice for long. */
class Growing {
  #buffer: Uint8Array;
  #length = 0;
  readonly #limit: number;

  constructor(size: number, limit: number) {
    this.#buffer = new Uint8Array(size);
    this.#limit = limit;
  }

  /** False when the chunk would pass the limit. */
  append(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.byteLength;
    if (length > this.#limit) return false;
    if (length > this.#buffer.byteLength) {
      const grown = new Uint8Array(Math.min(this.#limit, Math.max(length, this.#buffer.byteLength * 2)));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
    return true;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** The chunks of a body, in large pieces where the runtime can; leaving the loop early cancels the body. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, undefined, undefined> {
  const reader = largeReader(body);
  let finished = false;
  try {
    for (;;) {
      const { done, value } = await reader();
      if (value && value.byteLength > 0) yield value;
      finished = done;
      if (done) return undefined;
    }
  } finally {
    if (!finished) await reader.cancel();
  }
}

interface Reader {
  (): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

function largeReader(body: ReadableStream<Uint8Array>): Reader {
  const byob = byobReader(body);
  if (!byob) {
    const reader = body.getReader();
    return Object.assign(() => reader.read(), { cancel: () => reader.cancel().catch(() => undefined) });
  }
  let buffer = new ArrayBuffer(CHUNK);
  const read = async () => {
    const result = await byob.read(new Uint8Array(buffer), { min: CHUNK });
    if (result.value) buffer = result.value.buffer;
    return result;
  };
  return Object.assign(read, { cancel: () => byob.cancel().catch(() => undefined) });
}

/** `min` is newer than the type libraries. */
interface ByteReader {
  read(
    view: Uint8Array<ArrayBuffer>,
    options: { min: number },
  ): Promise<{ done: boolean; value?: Uint8Array<ArrayBuffer> }>;
  cancel(): Promise<void>;
}

/** Undefined where bodies are not byte streams, as in Node. */
function byobReader(body: ReadableStream<Uint8Array>): ByteReader | undefined {
  try {
    return body.getReader({ mode: "byob" }) as ByteReader;
  } catch {
    return undefined;
  }
}
