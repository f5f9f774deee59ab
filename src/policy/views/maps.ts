import * as z from "zod";
import { isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import { Unreadable } from "../view.ts";

/** An empty map for keys that users choose: without a prototype, so `constructor` and `__proto__` are ordinary keys. */
export function emptyMap<T>(): Record<string, T> {
  return Object.create(null);
}

/** A schema for such maps, as facts arrive over the network: it keeps every key, as zod's own record does not. */
export function mapOf<T>(value: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  return z.custom<JsonObject>(isObject, "must be a map").transform((object, context) => {
    const map = emptyMap<T>();
    for (const [key, item] of Object.entries(object)) {
      const checked = value.safeParse(item);
      if (checked.success) map[key] = checked.data;
      else context.addIssue({ code: "custom", message: checked.error.message, path: [key] });
    }
    return map;
  });
}

/** A field that has to hold a map. Absent and null read as empty; anything else cannot be read. */
export function mapField(value: Json | undefined, path: string): JsonObject | Unreadable {
  if (value === undefined || value === null) return emptyMap<Json>();
  return isObject(value) ? value : new Unreadable(path, "is not a map");
}
