import { type Pour, pourReader } from "../extender/body.ts";

/** workerd hands out 4 KB at a time unless the reader brings a buffer and asks for it to be filled. */
const CHUNK = 256 * 1024;

/** `min` is newer than the type libraries. Source: Cloudflare's runtime API reference, ReadableStreamBYOBReader. */
interface ByteReader {
  read(
    view: Uint8Array<ArrayBuffer>,
    options: { min: number },
  ): Promise<{ done: boolean; value?: Uint8Array<ArrayBuffer> }>;
  cancel(): Promise<void>;
}

/** Takes a body in workerd in large chunks, read into one buffer. */
export const cloudflarePour: Pour = async ({ body }, _, take) => {
  if (!body) return;
  const reader = body.getReader({ mode: "byob" }) as ByteReader;
  let buffer = new ArrayBuffer(CHUNK);
  const read = async () => {
    const result = await reader.read(new Uint8Array(buffer), { min: CHUNK });
    // The buffer comes back with the bytes: it was detached while they were read.
    if (result.value) buffer = result.value.buffer;
    return result;
  };
  await pourReader({ read, cancel: () => reader.cancel() }, take);
};
