import type { Json } from "./json.ts";
import { BACKSLASH, COLON, type Cursor, peek, QUOTE, ShapeError, skipValue, syntaxError } from "./scan.ts";

// Invalid UTF-8 becomes U+FFFD, as in Go's encoding/json.
const decoder = new TextDecoder();

/** Reads a member's key and moves on to its value. */
export function readKey(cursor: Cursor): void {
  if (peek(cursor) !== QUOTE) throw syntaxError(cursor);
  cursor.at++;
  cursor.keyStart = cursor.at;
  cursor.keyPlain = scanKey(cursor);
  cursor.keyEnd = cursor.at;
  cursor.at++;
  if (peek(cursor) !== COLON) throw syntaxError(cursor);
  cursor.at++;
  peek(cursor);
}

/** Moves to the key's closing quote; answers whether the key is plain. */
function scanKey(cursor: Cursor): boolean {
  const { bytes, end, skim } = cursor;
  let plain = true;
  let at = skim === undefined ? cursor.at : skim.stop(cursor.at, end);
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE || byte < 0x20) break;
    if (byte !== BACKSLASH) continue;
    plain = false;
    at++;
  }
  cursor.at = at;
  if (at >= end || bytes[at] !== QUOTE) throw syntaxError(cursor);
  return plain;
}

/** The text of the key read last. */
export function keyText(cursor: Cursor): string {
  return parseRange(cursor, cursor.keyStart - 1, cursor.keyEnd + 1) as string;
}

/** Reads the next value, whole. */
export function readValue(cursor: Cursor): Json {
  peek(cursor);
  const start = cursor.at;
  skipValue(cursor);
  return parseRange(cursor, start, cursor.at);
}

function parseRange({ bytes, base }: Cursor, start: number, end: number): Json {
  return parseText(
    bytes.subarray(start, end),
    `the body is not valid JSON between bytes ${base + start} and ${base + end}`,
  );
}

/** Parses JSON text; the problem becomes the error, because JSON.parse's own message repeats the text. */
export function parseText(text: Uint8Array, problem: string): Json {
  try {
    return JSON.parse(decoder.decode(text)) as Json;
  } catch {
    throw new ShapeError(problem);
  }
}
