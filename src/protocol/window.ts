import { type Cursor, cursorOn } from "./scan.ts";
import { makeRoom, type Skims } from "./skim.ts";

/** Something that is read from a body piece by piece. */
export interface Pieces<T> {
  /** Reads on. The bytes may be used again afterwards. Throws what the walk throws, and then reads no more. */
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

/** What is known of a body before it arrives, and what helps to read it. */
export interface WindowOptions {
  /** The length of the body in bytes, if it is known: a short one needs no large window. */
  readonly length?: number | undefined;
  /** Where the window's memory comes from; the body is walked without help when there is none. */
  readonly skims?: Skims | undefined;
}

/**
 * Walks a body that arrives in pieces, in a window that moves over it. The window grows only for a single value that
 * does not fit into it, at least to twice its size, so that no byte is walked often.
 */
export function walkPieces<T>(walk: Walk<T>, { length = WINDOW, skims }: WindowOptions = {}): Pieces<T> {
  // One byte more than the body, which so never fills it.
  const size = Math.min(length + 1, WINDOW);
  const skim = skims?.take(size);
  const cursor = cursorOn(skim ? new Uint8Array(skim.memory.buffer, 0, size) : new Uint8Array(size));
  cursor.skim = skim;
  cursor.end = 0;
  cursor.more = true;
  const walking = walk(cursor);
  let over = false;
  const finish = () => {
    if (skim && !over) skims?.giveBack(skim);
    over = true;
  };
  return {
    push: (bytes) => {
      let from = 0;
      while (from < bytes.length && !over) {
        from += fill(cursor, bytes, from);
        if (cursor.end < cursor.bytes.length) return;
        try {
          walking.next();
        } catch (error) {
          finish();
          throw error;
        }
        moveOn(cursor);
      }
    },
    end: () => {
      cursor.more = false;
      try {
        return walking.next().value as T;
      } finally {
        finish();
      }
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
    const { bytes: larger, view } = cursorOn(enlarged(cursor, 2 * bytes.length));
    cursor.bytes = larger;
    cursor.view = view;
    return;
  }
  bytes.copyWithin(0, at, end);
  cursor.base += at;
  cursor.end = end - at;
  cursor.at = 0;
}

/** The window's bytes with more room behind them. */
function enlarged({ bytes, skim }: Cursor, size: number): Uint8Array {
  if (skim) {
    makeRoom(skim, size);
    return new Uint8Array(skim.memory.buffer, 0, size);
  }
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}
