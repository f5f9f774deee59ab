import * as z from "zod";
import { field, type Json } from "../../protocol/json.ts";
import { Unreadable, type View } from "../view.ts";

/** A taint of a node; a taint without a value has the empty one. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  /** `NoSchedule`, `PreferNoSchedule` or `NoExecute`. */
  readonly effect: string;
}

/** The node's taints, in the node's order. */
export const taints: View<readonly Taint[]> = {
  name: "taints",
  of: "node",
  pace: "slow",
  doc: "The node's taints: key, value and effect.",
  paths: ["spec.taints"],
  fact: z.array(z.object({ key: z.string(), value: z.string(), effect: z.string() })),
  read: (node) => readTaints(field(field(node, "spec"), "taints")),
};

/** Whether the node is cordoned. */
export const unschedulable: View<boolean> = {
  name: "unschedulable",
  of: "node",
  pace: "slow",
  doc: "Whether the node is cordoned.",
  paths: ["spec.unschedulable"],
  fact: z.boolean(),
  read: (node) => {
    const value = field(field(node, "spec"), "unschedulable") ?? false;
    return typeof value === "boolean" ? value : new Unreadable("spec.unschedulable", "is neither true nor false");
  },
};

function readTaints(value: Json | undefined): readonly Taint[] | Unreadable {
  const list: Json = value ?? [];
  if (!Array.isArray(list)) return new Unreadable("spec.taints", "is not a list");
  const read: Taint[] = [];
  for (const [index, taint] of (list as readonly Json[]).entries()) {
    const [key, text = "", effect] = ["key", "value", "effect"].map((name) => field(taint, name) ?? undefined);
    if (typeof key !== "string" || typeof text !== "string" || typeof effect !== "string") {
      return new Unreadable(`spec.taints[${index}]`, "is not a taint with key and effect");
    }
    read.push({ key, value: text, effect });
  }
  return read;
}
