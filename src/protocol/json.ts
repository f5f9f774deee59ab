/** Any JSON value, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object whose fields nobody has checked yet. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for a JSON object; false for null, arrays and scalars. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads an own field of what may be an object. Answers undefined for anything else, so that absent, null and
 * mistyped parents read alike, and a key such as `constructor` never reaches a prototype.
 */
export function field(value: unknown, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
