import { type Cursor, cursorOn } from "./scan.ts";

/** Something that is read from a body piece by piece. */
export interface Pieces<T> {
  /** Reads on. The bytes may be used again afterwards. Throws what the walk throws. */
  push(bytes: Uint8Array): void;
  /** Ends the body and tells what it was. Throws what the walk throws. */
  end(): T;
}

/**
 * A walk over a body that yields when it needs more bytes. At every `yield` the cursor stands where the walk will go on:
 * what is before it may be gone afterwards, and the cursor on another place of other memory.
 */
export type Walk<T> = (cursor: Cursor) => Generator<void, T, void>;

/**
 * Bytes between two steps of a walk. What is cut off by the end of a step is walked again: large enough for that to be
 * rare, small enough to stay in a processor's cache.
 */
const WINDOW = 256 * 1024;

/**
 * Walks a body that arrives in pieces, in a window that moves over it. The window grows only for a single value that
 * does not fit into it, at least to twice its size, so that no byte is walked often.
 *
 * @param length of the body in bytes, if it is known: a short one needs no large window
 */
export function walkPieces<T>(walk: Walk<T>, length = WINDOW, window = WINDOW): Pieces<T> {
  // One byte more than the body, which so never fills it.
  const cursor = cursorOn(new Uint8Array(Math.min(length + 1, window)));
  cursor.end = 0;
  cursor.more = true;
  const walking = walk(cursor);
  return {
    push: (bytes) => {
      let from = 0;
      while (from < bytes.length) {
        from += fill(cursor, bytes, from);
        if (cursor.end < cursor.bytes.length) return;
        walking.next();
        moveOn(cursor);
      }
    },
    end: () => {
      cursor.more = false;
      return walking.next().value as T;
    },
  };
}

/** Copies bytes behind those that are there, as many as there is room for, and tells how many. */
function fill(cursor: Cursor, bytes: Uint8Array, from: number): number {
  const size = Math.min(bytes.length - from, cursor.bytes.length - cursor.end);
  cursor.bytes.set(size === bytes.length ? bytes : bytes.subarray(from, from + size), cursor.end);
  cursor.end += size;
  return size;
}

/** Drops what is behind the cursor, and makes room if that is nothing. */
function moveOn(cursor: Cursor): void {
  const { bytes, at, end } = cursor;
  if (at === 0) {
    const { bytes: larger, view } = cursorOn(new Uint8Array(2 * bytes.length));
    larger.set(bytes);
    cursor.bytes = larger;
    cursor.view = view;
    return;
  }
  bytes.copyWithin(0, at, end);
  cursor.base += at;
  cursor.end = end - at;
  cursor.at = 0;
}
