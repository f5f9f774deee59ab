import { field, type Json } from "../../protocol/json.ts";
import { Unreadable } from "../view.ts";

/** A value of an object together with the path that leads to it. */
export interface Place {
  readonly value: Json | undefined;
  readonly path: string;
}

/** The place of an object's field. */
export function at({ value, path }: Place, key: string): Place {
  return { value: field(value, key), path: path === "" ? key : `${path}.${key}` };
}

/** The places of a list's items. Absent and null are no items; what is no list is added to `faults`. */
export function items({ value, path }: Place, faults: Unreadable[]): readonly Place[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((item, index) => ({ value: item, path: `${path}[${index}]` }));
  faults.push(new Unreadable(path, "is not a list"));
  return [];
}
