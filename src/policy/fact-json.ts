import type { Json } from "../protocol/json.ts";

/**
 * Turns a fact into plain JSON: amounts become decimal strings, for they can exceed what a JSON number carries, and
 * tables become their rows. The view's own `fact` schema reads it back.
 */
export function factToJson(fact: unknown): Json {
  return JSON.parse(JSON.stringify(fact, (_, value) => (typeof value === "bigint" ? value.toString() : value)));
}
