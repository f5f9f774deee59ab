// AssemblyScript, not TypeScript: it looks like it and is compiled to WebAssembly by `npm run assembly`. Nine tenths of a
// request are values that no policy reads. Here they are passed over 64 bytes at a time, without a branch for each
// quote and bracket, which is what a byte loop spends its time on. Every function may look at up to 63 bytes behind `end`,
// which have to be there and do not matter.

const QUOTE: i8 = 0x22;
const BACKSLASH: i8 = 0x5c;
const OPEN_BRACE: i8 = 0x7b;
const CLOSE_BRACE: i8 = 0x7d;
/** With this bit set, [ and { are the same byte, and so are ] and }. */
const LOWER: i8 = 0x20;
const BLOCK: u32 = 64;

/** A bit for each of the 64 bytes, the first lowest: is it this one? */
function where(byte: i8, a: v128, b: v128, c: v128, d: v128): u64 {
  const same = i8x16.splat(byte);
  const low = i8x16.bitmask(i8x16.eq(a, same)) | (i8x16.bitmask(i8x16.eq(b, same)) << 16);
  const high = i8x16.bitmask(i8x16.eq(c, same)) | (i8x16.bitmask(i8x16.eq(d, same)) << 16);
  return (low as u32 as u64) | ((high as u32 as u64) << 32);
}

/** Each bit becomes whether the bits up to and with it are odd in number: from quotes to what is between them. */
function between(quotes: u64): u64 {
  let bits = quotes ^ (quotes << 1);
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  return bits ^ (bits << 32);
}

/** The bytes that a backslash before them makes plain text. `first` is 1 when the block's first byte is one. */
function escapedBy(backslashes: u64, first: u64): u64 {
  let escaped = first;
  let rest = backslashes & ~first;
  while (rest !== 0) {
    const next = (rest & -rest) << 1;
    escaped |= next;
    rest &= (rest - 1) & ~next;
  }
  return escaped;
}

/** 1 when the first byte behind the block is escaped: an odd number of backslashes stands at the block's end. */
function escapesNext(backslashes: u64, first: u64): u64 {
  const atEnd = clz(~backslashes);
  return atEnd === BLOCK ? first : atEnd & 1;
}

/** Where the depth becomes 0 in a block that begins at `depth`, as the number of the byte; 64 when nowhere. */
function whereClosed(depth: i32, opens: u64, closes: u64): u32 {
  while (closes !== 0) {
    depth--;
    const before = (closes & -closes) - 1;
    if (depth + (popcnt(opens & before) as i32) === 0) return ctz(closes) as u32;
    closes &= closes - 1;
  }
  return BLOCK;
}

/**
 * The place behind the bracket that closes the one at `at`; beyond `end` when none does, and 0 when a backslash stands
 * outside of strings, which is no JSON: whoever asks then has to look for himself.
 */
export function close(at: u32, end: u32): u32 {
  let depth: i32 = 0;
  // All ones while a block begins within a string.
  let inside: u64 = 0;
  let escaped: u64 = 0;
  for (; at < end; at += BLOCK) {
    let a = v128.load(at);
    let b = v128.load(at, 16);
    let c = v128.load(at, 32);
    let d = v128.load(at, 48);
    let quotes = where(QUOTE, a, b, c, d);
    const backslashes = where(BACKSLASH, a, b, c, d);
    if ((backslashes | escaped) !== 0) {
      quotes &= ~escapedBy(backslashes, escaped);
      escaped = escapesNext(backslashes, escaped);
    }
    const strings = between(quotes) ^ inside;
    const stray = backslashes & ~strings;
    if (stray !== 0 && at + (ctz(stray) as u32) < end) return 0;
    const lower = i8x16.splat(LOWER);
    a = v128.or(a, lower);
    b = v128.or(b, lower);
    c = v128.or(c, lower);
    d = v128.or(d, lower);
    const opens = where(OPEN_BRACE, a, b, c, d) & ~strings;
    const closes = where(CLOSE_BRACE, a, b, c, d) & ~strings;
    const fewer = popcnt(closes) as i32;
    if (fewer >= depth) {
      const place = whereClosed(depth, opens, closes);
      if (place < BLOCK) return at + place + 1;
    }
    depth += (popcnt(opens) as i32) - fewer;
    inside = ((strings as i64) >> 63) as u64;
  }
  return end + 1;
}

/** The place of the first quote, backslash or control character from `at` on; `end` or beyond when there is none. */
export function stop(at: u32, end: u32): u32 {
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const ends = v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.eq(bytes, i8x16.splat(BACKSLASH)));
    const found = i8x16.bitmask(v128.or(ends, i8x16.lt_u(bytes, i8x16.splat(0x20))));
    if (found !== 0) return at + (ctz(found) as u32);
  }
  return end;
}
