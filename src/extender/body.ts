/** Bodies above this many bytes are refused unless the host says otherwise. */
export const DEFAULT_BODY_LIMIT = 32 * 1024 * 1024;

/**
 * Cuts a request's body into chunks, each valid until the next is asked for; none when there is no body. Leaving the
 * loop early gives the rest up.
 *
 * @param env what the runtime told the app beside the request
 */
export type ReadChunks = (request: Request, env: unknown) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** How one request's body is read. */
export interface BodyOptions {
  /** The most bytes that are taken. */
  readonly limit: number;
  /** The body in chunks, where the runtime has a better way than its default reader. */
  readonly chunks?: ReturnType<ReadChunks>;
  /** Where the bytes may be put. */
  readonly spare?: SpareBuffer;
}

/**
 * One buffer kept between requests: a fresh one of many megabytes for each costs more in page faults and garbage
 * collections than walking its bytes does.
 */
export class SpareBuffer {
  #buffer: Uint8Array | undefined;

  /** The spare one, if it is there and large enough, or a new one of at least this many bytes. */
  take(size: number): Uint8Array {
    const spare = this.#buffer;
    if (!spare || spare.byteLength < size) return new Uint8Array(size);
    this.#buffer = undefined;
    return spare;
  }

  /** Gives the bytes of a body back: nobody may look at them any more. */
  give(bytes: Uint8Array): void {
    const whole = new Uint8Array(bytes.buffer);
    if (whole.byteLength > (this.#buffer?.byteLength ?? 0)) this.#buffer = whole;
  }
}

const FIRST_BUFFER = 64 * 1024;

/**
 * A body that nobody will use is read up to this many bytes, then cancelled. In workerd an answer to a body that was
 * not read to its end can get lost, so it is more than Cloudflare lets in (100 MB on the plans up to Pro).
 */
export const DISCARDED_BYTES = 128 * 1024 * 1024;

/** The client left, or the network lost it, before its body had arrived: no fault of the server. */
export class BrokenBodyError extends Error {
  override readonly name = "BrokenBodyError";
}

/**
 * Reads a request's body, counting real bytes.
 *
 * @returns the bytes, or undefined when there are more than `limit`; the rest is then discarded
 * @throws {BrokenBodyError} when the body ends before its end
 */
export async function readBody(request: Request, options: BodyOptions): Promise<Uint8Array | undefined> {
  const { limit } = options;
  const declared = declaredLength(request);
  if (declared !== undefined && declared > limit) {
    await discardBody(request, options);
    return undefined;
  }
  let buffer: Growing | undefined = new Growing(
    (options.spare ?? new SpareBuffer()).take(declared ?? FIRST_BUFFER),
    limit,
  );
  let seen = 0;
  for await (const chunk of arriving(request, options)) {
    seen += chunk.byteLength;
    if (seen > DISCARDED_BYTES) return undefined;
    if (seen > limit) buffer = undefined;
    buffer?.append(chunk);
  }
  return buffer?.bytes();
}

/**
 * Reads and forgets a body that nobody will use, so that the answer arrives and the connection can carry on.
 *
 * @throws {BrokenBodyError} when the body ends before its end
 */
export async function discardBody(request: Request, options: Pick<BodyOptions, "chunks">): Promise<void> {
  let seen = 0;
  for await (const chunk of arriving(request, options)) {
    seen += chunk.byteLength;
    if (seen > DISCARDED_BYTES) return;
  }
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

  constructor(buffer: Uint8Array, limit: number) {
    this.#buffer = buffer;
    this.#limit = limit;
  }

  /** Takes a chunk that does not pass the limit. */
  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.byteLength;
    if (length > this.#buffer.byteLength) {
      const grown = new Uint8Array(Math.min(this.#limit, Math.max(length, this.#buffer.byteLength * 2)));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** The chunks of a body; whatever reading them throws is the other side's doing. */
async function* arriving(request: Request, { chunks }: Pick<BodyOptions, "chunks">): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks ?? streamChunks(request);
  } catch (cause) {
    throw new BrokenBodyError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The chunks of a body as Fetch hands them out. */
async function* streamChunks({ body, bodyUsed }: Request): AsyncGenerator<Uint8Array, undefined, undefined> {
  if (!body || bodyUsed) return;
  const reader = body.getReader();
  yield* chunksFrom(
    () => reader.read(),
    () => reader.cancel(),
  );
}

/** Yields what `read` gives until it is done; leaving the loop early, or a failing read, cancels the body. */
export async function* chunksFrom(
  read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>,
  cancel: () => Promise<void>,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  let finished = false;
  try {
    while (!finished) {
      const { done, value } = await read();
      if (value && value.byteLength > 0) yield value;
      finished = done;
    }
  } finally {
    // A body that has failed already cannot be cancelled, and nobody minds.
    if (!finished) await cancel().catch(() => undefined);
  }
}
