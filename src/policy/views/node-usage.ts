import * as z from "zod";
import type { View } from "../view.ts";
import { type Counts, counts } from "./counts.ts";
import type { UsedPorts } from "./host-ports.ts";
import { mapOf } from "./maps.ts";

/** What the pods of a node take of it: those that are bound to it or assumed to be, and have not ended. */
export interface NodeUsage {
  readonly pods: number;
  /** What they request. */
  readonly requested: Counts;
  /** The same, where a container that requests no cpu or memory counts as 100m and 200Mi: for scores only. */
  readonly nonZero: { readonly cpu: number; readonly memory: number };
  readonly ports: UsedPorts;
}

/** It changes with every pod that is bound, so it is known only where the cluster is watched. */
export const nodeUsage: View<NodeUsage> = {
  name: "nodeUsage",
  of: "node",
  pace: "fast",
  doc: "What the pods on the node take of it: their number, what they request, and ports of the node.",
  paths: [],
  fact: z.object({
    pods: z.number(),
    requested: counts,
    nonZero: z.object({ cpu: z.number(), memory: z.number() }),
    ports: mapOf(z.array(z.string())),
  }),
};
