/** A source of pseudo-random numbers that says the same after the same seed (mulberry32). */
export interface Random {
  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number;
  /** That many lower-case hexadecimal digits. */
  hex(digits: number): string;
  /** Text of the form of a UUID version 4. */
  uuid(): string;
}

/** Starts a source; the seed is a whole number. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => Math.floor((next() / 0x1_0000_0000) * limit);
  const hex = (digits: number): string => {
    let text = "";
    while (text.length < digits) text += next().toString(16).padStart(8, "0");
    return text.slice(0, digits);
  };
  return {
    below,
    hex,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  };
}
