import { field, type JsonObject } from "../../protocol/json.ts";
import { mapPath } from "../../protocol/paths.ts";
import { parseQuantity, quantityProblem } from "../quantity.ts";
import { Unreadable, type View } from "../view.ts";
import { type Amounts, amountOf, amounts } from "./amounts.ts";
import { emptyMap, mapField } from "./maps.ts";

export type { Amounts } from "./amounts.ts";

const PATH = "status.allocatable";

/** What the node can give to pods, all of them together. */
export const nodeAllocatable: View<Amounts> = allocatableView();

/**
 * The same of some resources only: others cost nothing to read, may be unreadable, and make no difference between nodes.
 * The resources are part of the view's name.
 */
export function nodeAllocatableOf(resources: readonly string[]): View<Amounts> {
  return allocatableView([...new Set(resources)].sort());
}

function allocatableView(chosen?: readonly string[]): View<Amounts> {
  return {
    name: chosen ? `nodeAllocatable(${chosen.join(",")})` : "nodeAllocatable",
    of: "node",
    pace: "slow",
    doc: "What the node can give to pods: cpu in millicores, memory and ephemeral-storage in bytes, others in units.",
    paths: [chosen ? mapPath(PATH, chosen) : PATH],
    fact: amounts,
    read: (node) => readAmounts(mapField(field(field(node, "status"), "allocatable"), PATH), chosen),
  };
}

function readAmounts(map: JsonObject | Unreadable, chosen: readonly string[] | undefined): Amounts | Unreadable {
  if (map instanceof Unreadable) return map;
  const given = emptyMap<bigint>();
  for (const resource of chosen ?? Object.keys(map)) {
    if (!Object.hasOwn(map, resource)) continue;
    const quantity = parseQuantity(map[resource]);
    if (quantity === undefined) return new Unreadable(`${PATH}.${resource}`, quantityProblem(map[resource]));
    given[resource] = amountOf(resource, quantity);
  }
  return given;
}
