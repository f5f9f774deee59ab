import type { Skim } from "./skim.ts";

/**
 * A body that is not what its reader expects. The message says what is wrong and where (a path such as
 * `Nodes.items[3].metadata.name`, or a byte offset) and never repeats the body's content.
 */
export class ShapeError extends Error {
  override readonly name = "ShapeError";
}

/** The text ends where more was expected: an error at the end of a body, a reason to wait before it. */
export class CutOffError extends ShapeError {}

/**
 * A place in JSON text, and the key read last. Readers move `at` forward and look at nothing before it, so whoever
 * has a value's first byte can read the value again from there.
 */
export interface Cursor {
  bytes: Uint8Array;
  view: DataView;
  /** Where the bytes end that are there so far. */
  end: number;
  /** True while bytes may follow those that are there. */
  more: boolean;
  /** The place of the first byte in the whole body, for error messages. */
  base: number;
  at: number;
  keyStart: number;
  keyEnd: number;
  /** True when the key has no escapes: its bytes are its text. */
  keyPlain: boolean;
  /** Whose memory `bytes` begins with, where there is one: it finds the ends of values faster. */
  skim: Skim | undefined;
}

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** A cursor on the first byte of a body that is all there. */
export function cursorOn(body: Uint8Array): Cursor {
  // Plain Uint8Array views, also of a Node Buffer, keep the byte loops monomorphic.
  const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const key = { keyStart: 0, keyEnd: 0, keyPlain: true };
  return { bytes, view, end: bytes.length, more: false, base: 0, at: 0, ...key, skim: undefined };
}

/** The error for text that breaks off or is not JSON where the cursor stands. */
export function syntaxError(cursor: Cursor): ShapeError {
  const { at, end, base } = cursor;
  return at >= end ? cutOff(cursor) : new ShapeError(`the body is not valid JSON at byte ${base + at}`);
}

/** Thrown for every window of a body that still arrives, and caught at once: nobody reads its words or its stack. */
const WAIT = new CutOffError("more bytes are needed");

function cutOff({ base, end, more }: Cursor): CutOffError {
  return more ? WAIT : new CutOffError(`the body is cut off after byte ${base + end}`);
}

/** Moves past white space; answers the byte there, or -1 at the end. */
export function peek(cursor: Cursor): number {
  const { bytes, end } = cursor;
  let at = cursor.at;
  while (at < end && isSpace(bytes[at] as number)) at++;
  cursor.at = at;
  return at < end ? (bytes[at] as number) : -1;
}

function isSpace(byte: number): boolean {
  return byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

/** Moves past the `{` or `[` that the cursor stands on. True when a first member or item follows, false past `close`. */
export function enter(cursor: Cursor, close: number): boolean {
  cursor.at++;
  const byte = peek(cursor);
  if (byte === -1) throw cutOff(cursor);
  if (byte !== close) return true;
  cursor.at++;
  return false;
}

/** After a member or item: moves past the comma (true) or `close` (false). */
export function next(cursor: Cursor, close: number): boolean {
  const byte = peek(cursor);
  if (byte !== COMMA && byte !== close) throw syntaxError(cursor);
  cursor.at++;
  return byte === COMMA;
}

/**
 * Moves past the value that the cursor stands on, looking at quotes, backslashes and brackets only: other damage
 * inside a value that nobody reads is passed over. Deep nesting costs no stack.
 */
export function skipValue(cursor: Cursor): void {
  const { bytes, end, at } = cursor;
  const byte = at < end ? (bytes[at] as number) : -1;
  if (byte === QUOTE) cursor.at = closingQuote(cursor, at + 1) + 1;
  else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) cursor.at = skimNested(cursor) || skipNested(cursor);
  else cursor.at = skipScalar(cursor);
  if (cursor.at > end) throw syntaxError(cursor);
}

/** What skipNested answers, or 0 when there is nobody to skim, or damage that only looking at every byte makes sense of. */
function skimNested({ skim, at, end }: Cursor): number {
  return skim === undefined ? 0 : skim.close(at, end);
}

/** The place after the bracket that closes the one at the cursor; beyond the end when there is none. */
function skipNested({ bytes, view, at, end }: Cursor): number {
  let depth = 0;
  for (let i = at; i < end; i++) {
    const byte = bytes[i] as number;
    // With 0x20 set, [ and { are the same byte, and so are ] and }.
    if (byte === QUOTE) i = skipString(view, i + 1, end);
    else if ((byte | 0x20) === OPEN_BRACE) depth++;
    else if ((byte | 0x20) === CLOSE_BRACE && --depth === 0) return i + 1;
  }
  return end + 1;
}

/** The place of the quote that closes the string whose content begins at `i`; the end or beyond when there is none. */
function closingQuote({ bytes, view, end, skim }: Cursor, i: number): number {
  if (skim === undefined) return skipString(view, i, end);
  for (let at = skim.stop(i, end); at < end; at = skim.stop(at, end)) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return end;
}

function skipString(view: DataView, i: number, end: number): number {
  while (i + 4 <= end) {
    const four = view.getInt32(i, true);
    const quotes = four ^ 0x22222222;
    const slashes = four ^ 0x5c5c5c5c;
    // The well-known test for a zero byte; the lowest bit set belongs to the first quote or backslash.
    const hits = (((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes)) & 0x80808080;
    if (hits === 0) {
      i += 4;
      continue;
    }
    i += (31 - Math.clz32(hits & -hits)) >> 3;
    if (view.getUint8(i) === QUOTE) return i;
    i += 2;
  }
  return skipStringEnd(view, i, end);
}

function skipStringEnd(view: DataView, i: number, end: number): number {
  for (; i < end; i++) {
    const byte = view.getUint8(i);
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i++;
  }
  return end;
}

/** Numbers and literals: letters, digits, signs and the point. At least one of them. */
function skipScalar(cursor: Cursor): number {
  const { bytes, at, end } = cursor;
  let i = at;
  while (i < end && isScalarByte(bytes[i] as number)) i++;
  if (i === at) throw syntaxError(cursor);
  // The next digit may still be on its way.
  if (i === end && cursor.more) throw cutOff(cursor);
  return i;
}

function isScalarByte(byte: number): boolean {
  const letter = byte | 0x20;
  return (
    (letter >= 0x61 && letter <= 0x7a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e
  );
}
