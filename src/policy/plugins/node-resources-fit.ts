import * as z from "zod";
import { fitScorer } from "../fit-score.ts";
import { definePlugin, type Rejection } from "../plugin.ts";
import { resourceLoads, weightedResources } from "../resource-score.ts";
import { type Counts, countsOf, isExtendedResource } from "../views/counts.ts";
import { nodeRoom } from "../views/node-room.ts";
import { type NodeUsage, nodeUsage } from "../views/node-usage.ts";
import { podFitRequests, podScoreRequests } from "../views/pod-requests.ts";

const shape = z
  .array(z.strictObject({ utilization: z.int().min(0).max(100), score: z.int().min(0).max(10) }))
  .min(1)
  .refine((points) => points.every((point, index) => point.utilization > (points[index - 1]?.utilization ?? -1)), {
    message: "must be in rising order of utilization",
  });

const strategy = z
  .strictObject({
    type: z.enum(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]).default("LeastAllocated").meta({
      description: "which nodes are better: those with most left, with least left, or by a curve over what is in use",
    }),
    resources: weightedResources(100).meta({ description: "the resources that are scored, with their weights" }),
    requestedToCapacityRatio: z
      .strictObject({ shape: shape.meta({ description: "points of the curve: percent in use, and a score 0 to 10" }) })
      .optional()
      .meta({ description: "the curve, for the type RequestedToCapacityRatio" }),
  })
  .refine((value) => (value.type === "RequestedToCapacityRatio") === (value.requestedToCapacityRatio !== undefined), {
    message: "is there exactly for the type RequestedToCapacityRatio",
    path: ["requestedToCapacityRatio"],
  });

const args = z.strictObject({
  ignoredResources: z.array(z.string()).default([]).meta({
    description: "device resources that are not looked at, such as example.com/gpu",
  }),
  ignoredResourceGroups: z
    .array(z.string().regex(/^[^/]+$/, "must be a group without a slash"))
    .default([])
    .meta({ description: "groups of such resources, such as example.com" }),
  scoringStrategy: strategy.prefault({}).meta({ description: "how nodes are scored" }),
});

type Args = z.infer<typeof args>;

interface Node {
  readonly room: Counts;
  readonly usage: NodeUsage;
}

/** As kube-scheduler's plugin of the name: plugins/noderesources, v1.37.2. */
export const nodeResourcesFit = definePlugin({
  name: "NodeResourcesFit",
  version: 1,
  doc:
    "Keeps nodes that have room for what the pod requests (cpu, memory, ephemeral-storage, device resources, one more " +
    "pod) and prefers those with most left, with least left, or by a curve. Requests that its pods leave out count " +
    "as 100m and 200Mi for the score. It works where the cluster is watched.",
  maturity: "beta",
  args,
  scale: "none",
  reads: () => ({
    pod: { fit: podFitRequests, scored: podScoreRequests },
    node: { room: nodeRoom, usage: nodeUsage },
  }),
  prepare: (args: Args, { fit, scored }) => ({
    filter: nodeFilter(args, countsOf(fit)),
    score: nodeScore(args, countsOf(scored)),
  }),
});

interface Need {
  readonly resource: string;
  readonly amount: number;
  readonly reason: string;
}

const TOO_MANY = "Too many pods";

/** `fitsRequest` of noderesources/fit.go: every resource that is short is a reason of its own. */
function nodeFilter(args: Args, asked: Counts): (node: Node) => Rejection | undefined {
  const needs: Need[] = Object.entries(asked)
    .filter(([resource, amount]) => amount > 0 && resource !== "pods" && !isIgnored(args, resource))
    .map(([resource, amount]) => ({ resource, amount, reason: `Insufficient ${resource}` }));
  return ({ room, usage }) => {
    const full = usage.pods + 1 > (room["pods"] ?? 0);
    const isShort = ({ resource, amount }: Need) => amount > (room[resource] ?? 0) - (usage.requested[resource] ?? 0);
    // Most nodes fit: nothing is made for those.
    if (!full && !needs.some(isShort)) return undefined;
    const short = needs.filter(isShort);
    const reasons = [...(full ? [TOO_MANY] : []), ...short.map(({ reason }) => reason)];
    const unresolvable = short.some(({ resource, amount }) => amount > (room[resource] ?? 0));
    return { reason: reasons[0] ?? TOO_MANY, ...(reasons.length > 1 && { reasons }), unresolvable };
  };
}

function isIgnored({ ignoredResources, ignoredResourceGroups }: Args, resource: string): boolean {
  if (!isExtendedResource(resource)) return false;
  return ignoredResources.includes(resource) || ignoredResourceGroups.includes(resource.split("/", 1)[0] ?? "");
}

function nodeScore({ scoringStrategy }: Args, asked: Counts): (node: Node) => number {
  const names = scoringStrategy.resources.map(({ name }) => name);
  const score = fitScorer(scoringStrategy);
  const loads = resourceLoads(
    names,
    names.map((name) => asked[name] ?? 0),
  );
  return ({ room, usage }) => score(loads(room, (resource) => usedForScore(usage, resource)));
}

function usedForScore({ requested, nonZero }: NodeUsage, resource: string): number {
  if (resource === "cpu") return nonZero.cpu;
  return resource === "memory" ? nonZero.memory : (requested[resource] ?? 0);
}
