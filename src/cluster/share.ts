import { isObject, type Json } from "../protocol/json.ts";

/** More different values than this are not remembered: then nothing much is shared, and the pool would be the burden. */
const MOST = 4_096;

/** Objects come in the order of their names, and so those of one template in a row: with these a new value is compared. */
const RECENT = 8;

/**
 * Gives a function that answers equal values with one and the same: pods of one template have equal containers and
 * labels, thousands of times. Values of more than four thousand kinds are shared only as far as memory goes.
 */
export function createSharer(): <T extends Json>(value: T) => T {
  let pool = new Map<string, Json>();
  const recent: Json[] = [];
  let oldest = 0;
  return <T extends Json>(value: T): T => {
    for (let i = 0; i < recent.length; i++) if (alike(recent[i] as Json, value)) return recent[i] as T;
    const text = JSON.stringify(value);
    const known = pool.get(text);
    if (known === undefined) {
      if (pool.size >= MOST) pool = new Map();
      pool.set(text, value);
      return value;
    }
    // Only what has come twice: values that each pod has for itself would push the others out.
    recent[oldest] = known;
    oldest = (oldest + 1) % RECENT;
    return known as T;
  };
}

/** A fraction of what it takes to make a text of the value and to look that up. */
function alike(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item: Json, index) => alike(item, other[index] as Json));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && alike(one[key], other[key]));
}
