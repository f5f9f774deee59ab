import { gpuRefusal } from "../policy/gpu-fit.ts";
import { GPU_MEMORY, readGpuRequest } from "../policy/views/gpu-request.ts";
import type { DisruptionBudget } from "./disruption.ts";
import { heldByDevice } from "./holdings.ts";
import type { Claim, PlacedNode, PlacedPod } from "./model.ts";
import { devicesOf, usageOf } from "./usage.ts";
import type { Scene } from "./victims.ts";

/** One node of GPUs, for tests of preemption. */
export interface Setting {
  readonly node: PlacedNode;
  readonly pods: readonly PlacedPod[];
  readonly claims?: readonly Claim[];
  readonly budgets?: readonly DisruptionBudget[];
  readonly room?: (without: ReadonlySet<string>) => boolean;
}

/** A scene of one node, where the filter is GpuMemory's. */
export function sceneOf(pod: PlacedPod, { node, pods, claims = [], budgets = [], room }: Setting): Scene {
  const presence = { pods, claims };
  return {
    pods: (name) => (name === node.name ? pods : undefined),
    budgets,
    fits: (_, without) => {
      const usage = usageOf(node, presence, { for: pod, without });
      return gpuRefusal(readGpuRequest(pod.object), devicesOf(node, usage).devices[GPU_MEMORY] ?? []) === undefined;
    },
    devices: () => heldByDevice(node, usageOf(node, presence, { for: pod })),
    ...(room && { room: (_, without) => room(without) }),
  };
}

/** A budget that covers pods of the label `app`. */
export function budgetFor(app: string, allowed: number): DisruptionBudget {
  return {
    allowed,
    covers: ({ object }) => {
      const labels = (object["metadata"] as { labels?: Record<string, string> }).labels ?? {};
      return labels[app] !== undefined;
    },
  };
}
