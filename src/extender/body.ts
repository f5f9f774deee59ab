import type { Pieces } from "../protocol/window.ts";

/** Bodies above this many bytes are refused unless the host says otherwise. */
export const DEFAULT_BODY_LIMIT = 32 * 1024 * 1024;

/** Takes a chunk of a body, whose bytes count during the call only, and answers whether it wants another. */
export type Take = (chunk: Uint8Array) => boolean;

/**
 * Hands a request's body to `take`, chunk by chunk, and resolves at its end; what `take` no longer wants is given up.
 * `take` never throws. Rejects when the body breaks off.
 *
 * @param env what the runtime told the app beside the request
 */
export type Pour = (request: Request, env: unknown, take: Take) => Promise<void>;

/** How one request's body is read. */
export interface BodyOptions {
  /** The most bytes that are taken. */
  readonly limit: number;
  /** The body's way to a `take`, where the runtime has a better one than its default reader. */
  readonly pour?: (take: Take) => Promise<void>;
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

/** What a body was read to, and how many bytes it had. */
export interface ReadBody<T> {
  readonly value: T;
  readonly bytes: number;
}

/**
 * Reads a request's body while it arrives, counting real bytes. A body that cannot be read is still taken to its end, so
 * that the answer arrives and the connection can carry on.
 *
 * @param begin gets the length that the client promises, where it promises one
 * @returns undefined when there are more bytes than `limit`; the rest is then discarded
 * @throws {BrokenBodyError} when the body ends before its end, and whatever the reading throws
 */
export async function readPieces<T>(
  request: Request,
  options: BodyOptions,
  begin: (length: number | undefined) => Pieces<T>,
): Promise<ReadBody<T> | undefined> {
  const declared = declaredLength(request);
  const tooLong = declared !== undefined && declared > options.limit;
  let reading = tooLong ? undefined : guarded(begin(declared));
  const bytes = await pourBody(request, options, (chunk, seen) => {
    if (seen > options.limit) reading = undefined;
    reading?.push(chunk);
  });
  return reading && { value: reading.end(), bytes };
}

/** Reads a request's body whole, as {@link readPieces} does. */
export async function readBody(request: Request, options: BodyOptions): Promise<Uint8Array | undefined> {
  const read = await readPieces(request, options, (length) => collect(length ?? FIRST_BUFFER));
  return read?.value;
}

/**
 * Reads and forgets a body that nobody will use, so that the answer arrives and the connection can carry on.
 *
 * @throws {BrokenBodyError} when the body ends before its end
 */
export async function discardBody(request: Request, options: Pick<BodyOptions, "pour">): Promise<void> {
  await pourBody(request, options, () => undefined);
}

/** The same reading, whose first error is kept for the end. */
function guarded<T>(reading: Pieces<T>): Pieces<T> {
  let fault: { readonly error: unknown } | undefined;
  return {
    push: (bytes) => {
      if (fault) return;
      try {
        reading.push(bytes);
      } catch (error) {
        fault = { error };
      }
    },
    end: () => {
      if (fault) throw fault.error;
      return reading.end();
    },
  };
}

/** The length the client promises, where it promises one. */
function declaredLength(request: Request): number | undefined {
  const header = request.headers.get("content-length");
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** One buffer that grows, so that a body is never held twice for long. */
function collect(length: number): Pieces<Uint8Array> {
  let buffer = new Uint8Array(length);
  let filled = 0;
  return {
    push: (bytes) => {
      const needed = filled + bytes.byteLength;
      if (needed > buffer.byteLength) {
        const grown = new Uint8Array(Math.max(needed, buffer.byteLength * 2));
        grown.set(buffer.subarray(0, filled));
        buffer = grown;
      }
      buffer.set(bytes, filled);
      filled = needed;
    },
    end: () => buffer.subarray(0, filled),
  };
}

/**
 * Takes a body to its end, or up to what is worth taking of a body that nobody will use.
 *
 * @param take gets each chunk, and how many bytes there have been with it
 * @returns how many bytes came
 */
async function pourBody(
  request: Request,
  { pour }: Pick<BodyOptions, "pour">,
  take: (chunk: Uint8Array, seen: number) => void,
): Promise<number> {
  let seen = 0;
  const taking: Take = (chunk) => {
    seen += chunk.byteLength;
    take(chunk, seen);
    return seen <= DISCARDED_BYTES;
  };
  try {
    await (pour?.(taking) ?? pourStream(request, taking));
  } catch (cause) {
    // Whatever reading throws is the other side's doing.
    throw new BrokenBodyError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  return seen;
}

/** A body as Fetch hands it out. */
async function pourStream({ body, bodyUsed }: Request, take: Take): Promise<void> {
  if (!body || bodyUsed) return;
  const reader = body.getReader();
  await pourReader({ read: () => reader.read(), cancel: () => reader.cancel() }, take);
}

/** What hands out the chunks of a stream. */
export interface ChunkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Gives `take` what a reader reads until either is done; a stream that is not read to its end is cancelled. */
export async function pourReader(reader: ChunkReader, take: Take): Promise<void> {
  let finished = false;
  try {
    for (let wanted = true; wanted && !finished; ) {
      const { done, value } = await reader.read();
      if (value && value.byteLength > 0) wanted = take(value);
      finished = done;
    }
  } finally {
    // A body that has failed already cannot be cancelled, and nobody minds.
    if (!finished) await reader.cancel().catch(() => undefined);
  }
}
