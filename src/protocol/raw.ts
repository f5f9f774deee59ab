import { COMMA } from "./scan.ts";

const SMALLEST = 64 * 1024;
const LARGEST = 1024 * 1024;

/**
 * Keeps copies of values' bytes, one after the other with a comma before each, in few pieces of memory: what was kept in
 * a row can be written in a row.
 *
 * @returns a function that copies its bytes and gives the copy
 */
export function rawKeeper(): (bytes: Uint8Array) => Uint8Array {
  let piece = new Uint8Array(0);
  let used = 0;
  return (bytes) => {
    if (used + 1 + bytes.length > piece.length) {
      const size = Math.min(LARGEST, Math.max(SMALLEST, 2 * piece.length));
      piece = new Uint8Array(Math.max(size, 1 + bytes.length));
      used = 0;
    }
    piece[used++] = COMMA;
    const copy = piece.subarray(used, used + bytes.length);
    copy.set(bytes);
    used += bytes.length;
    return copy;
  };
}
