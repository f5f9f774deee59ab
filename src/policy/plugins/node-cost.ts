import * as z from "zod";
import type { FleetFacts } from "../facts.ts";
import { definePlugin, type Rejection } from "../plugin.ts";
import { type Amounts, nodeAllocatableOf } from "../views/allocatable.ts";
import { commitments, prices } from "../views/fleet.ts";
import { nodeLabels } from "../views/labels.ts";
import { podNonZeroRequests } from "../views/pod-requests.ts";

const args = z.strictObject({
  unpriced: z.enum(["last", "reject"]).default("last").meta({
    description: "what becomes of a node that no price matches: scored lowest, or refused",
  }),
});

const UNPRICED: Rejection = { reason: "node(s) had no price in the facts of the fleet", unresolvable: true };

/** Prefers the node on which a pod costs least. */
export const nodeCost = definePlugin({
  name: "NodeCost",
  version: 2,
  doc:
    "Prefers the node on which the pod costs least: the node's hourly price in the facts of the fleet, times the share " +
    "of the node that the pod takes (the larger of its cpu and memory requests over what the node can allocate). Nodes " +
    "under a commitment are paid already and cost nothing. For clusters with several instance types, zones or capacity types.",
  maturity: "beta",
  args,
  scale: "range-reversed",
  reads: (_, facts) => ({
    pod: { requests: podNonZeroRequests },
    node: { labels: nodeLabels(matchedKeys(facts)), allocatable: nodeAllocatableOf(["cpu", "memory"]) },
    around: { prices, commitments },
  }),
  prepare: ({ unpriced }, { requests }, { prices, commitments }) => ({
    filter: ({ labels }) => {
      if (unpriced === "last" || commitments.find(labels)) return undefined;
      return prices.perHour(labels) === undefined ? UNPRICED : undefined;
    },
    score: ({ labels, allocatable }) => {
      if (commitments.find(labels)) return 0;
      const perHour = prices.perHour(labels);
      const share = shareOfNode(requests, allocatable);
      return perHour === undefined || share === undefined ? undefined : perHour * share;
    },
  }),
});

/** Only labels that some price or commitment names: any other would make every node a class of its own. */
function matchedKeys({ prices = [], commitments = [] }: FleetFacts): string[] {
  return [...new Set([...prices, ...commitments].flatMap(({ match }) => Object.keys(match)))];
}

/** The larger share of cpu and memory, or undefined for a node that has neither to give. */
function shareOfNode(requests: Amounts, allocatable: Amounts): number | undefined {
  const cpu = ratio(requests["cpu"], allocatable["cpu"]);
  const memory = ratio(requests["memory"], allocatable["memory"]);
  return cpu === undefined || memory === undefined ? undefined : Math.max(cpu, memory);
}

function ratio(part: bigint | undefined, whole: bigint | undefined): number | undefined {
  return whole === undefined || whole <= 0n ? undefined : Number(part ?? 0n) / Number(whole);
}
