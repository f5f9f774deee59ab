import { assignDevice } from "../placement/assign.ts";
import type { FollowedLedgers } from "../placement/followed-ledgers.ts";
import { assignmentAnnotations } from "../placement/gpushare.ts";
import type { Usage } from "../placement/holdings.ts";
import type { Claim, PlacedNode, PlacedPod } from "../placement/model.ts";
import type { DeviceContract } from "../placement/promise.ts";
import { devicesOf, usageOf } from "../placement/usage.ts";
import type { Refusal } from "../policy/run.ts";
import type { Devices } from "../policy/views/devices.ts";
import type { Cluster, KnownNode } from "./cluster.ts";

/** The devices of nodes as the scheduler sees them. */
export interface Gpu {
  /** Who holds what, for a pod: what is bound, what is promised, and what this scheduler is binding just now. */
  devices(node: KnownNode, pod: PlacedPod): Devices;
  /** Why a node gives its devices to no pod at all, if so. */
  barred(node: KnownNode, pod: PlacedPod): Refusal | undefined;
  readonly contract: DeviceContract;
}

const CLOSED: Refusal = {
  plugin: "GpuMemory",
  reason: "node(s) had a device ledger that was made anew a moment ago",
  unresolvable: true,
};

const NEWER: Refusal = {
  plugin: "GpuMemory",
  reason: "node(s) had a device ledger that a newer release has written",
  unresolvable: true,
};

/** @param now milliseconds since 1970 */
export function createGpu(cluster: Cluster, ledgers: FollowedLedgers, now: () => number): Gpu {
  const seen = (node: PlacedNode, pod: PlacedPod, more: { claims: readonly Claim[]; assumed: boolean }): Usage => {
    const there = [...(cluster.get(node.name)?.pods.values() ?? [])].filter((each) => each.pod.request > 0n);
    const bound = there.flatMap((each) => (each.assumed ? [] : [each.pod]));
    // No claim tells its device yet: it counts as a pod that the node is kept for, whoever asks.
    const coming = there.flatMap((each) => (each.assumed && more.assumed ? [keptFor(each.pod, node)] : []));
    return usageOf(node, { pods: bound, claims: more.claims, nominated: coming }, { for: pod });
  };
  return {
    devices: ({ node }, pod) =>
      devicesOf(node, seen(node, pod, { claims: ledgers.ledger(node.name)?.claims ?? [], assumed: true })),
    barred({ name }, pod) {
      if (pod.request === 0n) return undefined;
      if (ledgers.newer(name)) return NEWER;
      return ledgers.closed(name, now()) ? CLOSED : undefined;
    },
    contract: {
      // Whoever else is on the way to the node has entered its claim before this one is entered, or will be refused.
      choose: (pod, node, claims) => assignDevice(pod, node, seen(node, pod, { claims, assumed: false })),
      annotations: assignmentAnnotations,
    },
  };
}

function keptFor(pod: PlacedPod, { name }: PlacedNode): PlacedPod {
  return { ...pod, priority: Number.MAX_SAFE_INTEGER, nominatedNode: name };
}
