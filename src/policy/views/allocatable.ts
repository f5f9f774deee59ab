import { field } from "../../protocol/json.ts";
import { parseQuantity, quantityProblem } from "../quantity.ts";
import { Unreadable, type View } from "../view.ts";
import { type Amounts, amountOf, amounts } from "./amounts.ts";
import { emptyMap, mapField } from "./maps.ts";

export type { Amounts } from "./amounts.ts";

/** What the node can give to pods, all of them together. */
export const nodeAllocatable: View<Amounts> = {
  name: "nodeAllocatable",
  of: "node",
  pace: "slow",
  doc: "What the node can give to pods: cpu in millicores, memory and ephemeral-storage in bytes, others in units.",
  paths: ["status.allocatable"],
  fact: amounts,
  read: (node) => {
    const path = "status.allocatable";
    const map = mapField(field(field(node, "status"), "allocatable"), path);
    if (map instanceof Unreadable) return map;
    const given = emptyMap<bigint>();
    for (const resource of Object.keys(map)) {
      const quantity = parseQuantity(map[resource]);
      if (quantity === undefined) return new Unreadable(`${path}.${resource}`, quantityProblem(map[resource]));
      given[resource] = amountOf(resource, quantity);
    }
    return given;
  },
};
