import { isObject } from "../../protocol/json.ts";
import { parseQuantity, type Quantity, quantityProblem } from "../quantity.ts";
import { Unreadable } from "../view.ts";
import { emptyMap } from "./maps.ts";
import type { Place } from "./place.ts";

/** Quantities by resource name, exact. */
export type ResourceList = Readonly<Record<string, Quantity>>;

/**
 * Reads a resource list. Absent and null are no list, which Kubernetes tells apart from an empty one. What cannot be
 * read is added to `faults` with its path and left out.
 */
export function readList({ value, path }: Place, faults: Unreadable[]): ResourceList | undefined {
  if (value === undefined || value === null) return undefined;
  const list = emptyMap<Quantity>();
  if (!isObject(value)) {
    faults.push(new Unreadable(path, "is not a map of quantities"));
    return list;
  }
  for (const resource of Object.keys(value)) {
    const quantity = parseQuantity(value[resource]);
    if (quantity === undefined) faults.push(new Unreadable(`${path}.${resource}`, quantityProblem(value[resource])));
    else list[resource] = quantity;
  }
  return list;
}

/** The sum of several lists, resource by resource. */
export function sumOf(...lists: readonly (ResourceList | undefined)[]): ResourceList {
  return merged(lists, (left, right) => left + right);
}

/** The largest quantity that any of the lists has, resource by resource. */
export function maxOf(...lists: readonly (ResourceList | undefined)[]): ResourceList {
  return merged(lists, (left, right) => (right - left > 0n ? right : left));
}

/** Every resource of the lists, as the first list that has it says. */
export function firstOf(...lists: readonly (ResourceList | undefined)[]): ResourceList {
  return merged(lists, (left) => left);
}

function merged(
  lists: readonly (ResourceList | undefined)[],
  merge: (left: Quantity, right: Quantity) => Quantity,
): ResourceList {
  const result = emptyMap<Quantity>();
  for (const list of lists) {
    for (const resource in list) {
      const quantity = list[resource];
      const before = result[resource];
      if (quantity !== undefined) result[resource] = before === undefined ? quantity : merge(before, quantity);
    }
  }
  return result;
}
