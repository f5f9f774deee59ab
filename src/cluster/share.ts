import type { Json } from "../protocol/json.ts";

/** More different values than this are not remembered: then nothing much is shared, and the pool would be the burden. */
const MOST = 4_096;

/**
 * Gives a function that answers equal values with one and the same: pods of one template have equal containers and
 * labels, thousands of times. Values of more than four thousand kinds are shared only as far as memory goes.
 */
export function createSharer(): <T extends Json>(value: T) => T {
  let pool = new Map<string, Json>();
  return <T extends Json>(value: T): T => {
    const text = JSON.stringify(value);
    const known = pool.get(text);
    if (known !== undefined) return known as T;
    if (pool.size >= MOST) pool = new Map();
    pool.set(text, value);
    return value;
  };
}
