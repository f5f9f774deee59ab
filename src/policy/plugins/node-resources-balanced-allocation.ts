import * as z from "zod";
import { definePlugin } from "../plugin.ts";
import { type ResourceLoads, resourceLoads, weightedResources } from "../resource-score.ts";
import { countsOf } from "../views/counts.ts";
import { nodeRoom } from "../views/node-room.ts";
import { nodeUsage } from "../views/node-usage.ts";
import { podRequests } from "../views/pod-requests.ts";

const args = z.strictObject({
  resources: weightedResources(1)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
      message: "names a resource twice",
    })
    .meta({ description: "the resources that are balanced; their weight can only be 1" }),
});

/** As kube-scheduler's plugin of the name: noderesources/balanced_allocation.go, v1.37.2. */
export const nodeResourcesBalancedAllocation = definePlugin({
  name: "NodeResourcesBalancedAllocation",
  version: 1,
  doc:
    "Prefers nodes whose resources the pod would use more evenly than they are used now, so that a node does not run " +
    "out of memory while its cores are idle. Says nothing of pods that request none. It works where the cluster is " +
    "watched.",
  maturity: "beta",
  args,
  scale: "none",
  reads: () => ({ pod: { requests: podRequests }, node: { room: nodeRoom, usage: nodeUsage } }),
  prepare: ({ resources }, { requests }) => {
    const names = resources.map(({ name }) => name);
    const counted = countsOf(requests);
    const asked = names.map((name) => counted[name] ?? 0);
    if (asked.every((amount) => amount === 0)) return {};
    const loads = resourceLoads(names, asked);
    return { score: ({ room, usage }) => improvement(loads(room, (resource) => usage.requested[resource] ?? 0)) };
  },
});

/** 75 where the pod changes nothing, up to 100 where it makes the node more even, down to 50. */
function improvement({ requested, allocated, allocatable }: ResourceLoads): number {
  return 50 + Math.trunc((50 + evenness(requested, allocatable) - evenness(allocated, allocatable)) / 2);
}

/** 100 × (1 - the standard deviation of how full each resource is), cut off. */
function evenness(taken: readonly number[], allocatable: readonly number[]): number {
  return Math.trunc((1 - deviation(taken, allocatable)) * 100);
}

/** Without any array of its own, for it is asked twice about every node. */
function deviation(taken: readonly number[], allocatable: readonly number[]): number {
  let [count, sum, last, before] = [0, 0, 0, 0];
  for (let index = 0; index < taken.length; index++) {
    if (allocatable[index] === 0) continue;
    before = last;
    last = share(taken, allocatable, index);
    sum += last;
    count += 1;
  }
  if (count < 2) return 0;
  // As upstream has it: the general formula rounds otherwise.
  if (count === 2) return Math.abs((before - last) / 2);
  const mean = sum / count;
  let squares = 0;
  for (let index = 0; index < taken.length; index++) {
    if (allocatable[index] === 0) continue;
    const distance = share(taken, allocatable, index) - mean;
    squares += distance * distance;
  }
  return Math.sqrt(squares / count);
}

function share(taken: readonly number[], allocatable: readonly number[], index: number): number {
  return Math.min((taken[index] ?? 0) / (allocatable[index] ?? 1), 1);
}
