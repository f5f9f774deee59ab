import type { JsonObject } from "./json.ts";
import type { Branch, PathTree } from "./paths.ts";
import { keyText, parseText, readKey } from "./read.ts";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  type Cursor,
  enter,
  next,
  OPEN_BRACE,
  OPEN_BRACKET,
  peek,
  skipValue,
} from "./scan.ts";

/** Bytes under construction. One scratch serves all nodes of a request, one after the other. */
export interface Scratch {
  bytes: Uint8Array;
  length: number;
}

/** An empty scratch. */
export function scratch(): Scratch {
  return { bytes: new Uint8Array(4096), length: 0 };
}

/**
 * Reads the wanted fields of the object that the cursor stands on, and moves past it.
 *
 * The answer equals `cutDown(JSON.parse(text), tree)`. Instead of building it value by value, the wanted parts of the
 * text are put together to a smaller text and parsed at once: repeated and escaped keys then come out as JSON.parse
 * has them. Throws a ShapeError that names `place` when a wanted part is not valid JSON.
 */
export function readWanted(cursor: Cursor, tree: PathTree, out: Scratch, place: string): JsonObject {
  const start = cursor.at;
  out.length = 0;
  copyWanted(cursor, tree, out);
  const problem = `${place} is not valid JSON between bytes ${cursor.base + start} and ${cursor.base + cursor.at}`;
  return parseText(out.bytes.subarray(0, out.length), problem) as JsonObject;
}

/** Recursion goes as deep as the tree, whatever the body holds. */
function copyWanted(cursor: Cursor, tree: PathTree, out: Scratch): void {
  let separator = OPEN_BRACE;
  for (let more = enter(cursor, CLOSE_BRACE); more; more = next(cursor, CLOSE_BRACE)) {
    readKey(cursor);
    const branch = wantedBranch(cursor, tree);
    if (branch === undefined) {
      skipValue(cursor);
      continue;
    }
    putByte(out, separator);
    separator = COMMA;
    put(out, branch.prefix, 0, branch.prefix.length);
    copyValue(cursor, branch, out);
  }
  if (separator === OPEN_BRACE) putByte(out, OPEN_BRACE);
  putByte(out, CLOSE_BRACE);
}

function copyValue(cursor: Cursor, { below, each }: Branch, out: Scratch): void {
  if (below !== undefined && peek(cursor) === (each ? OPEN_BRACKET : OPEN_BRACE)) {
    if (each) copyItems(cursor, below, out);
    else copyWanted(cursor, below, out);
    return;
  }
  copyWhole(cursor, out);
}

function copyItems(cursor: Cursor, tree: PathTree, out: Scratch): void {
  let separator = OPEN_BRACKET;
  for (let more = enter(cursor, CLOSE_BRACKET); more; more = next(cursor, CLOSE_BRACKET)) {
    putByte(out, separator);
    separator = COMMA;
    if (peek(cursor) === OPEN_BRACE) copyWanted(cursor, tree, out);
    else copyWhole(cursor, out);
  }
  if (separator === OPEN_BRACKET) putByte(out, OPEN_BRACKET);
  putByte(out, CLOSE_BRACKET);
}

function copyWhole(cursor: Cursor, out: Scratch): void {
  const start = cursor.at;
  skipValue(cursor);
  put(out, cursor.bytes, start, cursor.at);
}

/** The branch for the key that was read last. */
function wantedBranch(cursor: Cursor, { branches }: PathTree): Branch | undefined {
  if (!cursor.keyPlain) {
    const key = keyText(cursor);
    return branches.find((branch) => branch.key === key);
  }
  for (let i = 0; i < branches.length; i++) {
    const branch = branches[i] as Branch;
    if (isKey(cursor, branch.name)) return branch;
  }
  return undefined;
}

function isKey({ bytes, keyStart, keyEnd }: Cursor, name: Uint8Array): boolean {
  if (keyEnd - keyStart !== name.length) return false;
  for (let i = 0; i < name.length; i++) {
    if (bytes[keyStart + i] !== name[i]) return false;
  }
  return true;
}

function putByte(out: Scratch, byte: number): void {
  reserve(out, 1);
  out.bytes[out.length++] = byte;
}

function put(out: Scratch, from: Uint8Array, start: number, end: number): void {
  const size = end - start;
  reserve(out, size);
  // For a short run the loop is faster than making a view for `set`.
  if (size > 48) out.bytes.set(from.subarray(start, end), out.length);
  else for (let i = 0; i < size; i++) out.bytes[out.length + i] = from[start + i] as number;
  out.length += size;
}

function reserve(out: Scratch, size: number): void {
  const needed = out.length + size;
  if (needed <= out.bytes.length) return;
  const grown = new Uint8Array(2 * needed);
  grown.set(out.bytes.subarray(0, out.length));
  out.bytes = grown;
}
