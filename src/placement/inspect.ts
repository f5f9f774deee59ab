import { gpuCapacity } from "./gpushare.ts";
import type { Usage } from "./holdings.ts";
import type { PlacedNode } from "./model.ts";

/**
 * The JSON of gpushare's inspect routes (`pkg/scheduler/gpushare-inspect.go`, c0b6141), in the cluster's memory units.
 * JSON numbers: units are GiB or MiB, far below what a double counts exactly.
 */
export interface Inspection {
  readonly nodes: readonly InspectedNode[];
  readonly error?: string;
}

/** A node in {@link Inspection}. */
export interface InspectedNode {
  readonly name: string;
  /** As the node reports it: its devices' sum can be less, for each has the share rounded down. */
  readonly totalGPU: number;
  readonly usedGPU: number;
  readonly devs: readonly InspectedDevice[];
}

/** A device in {@link Inspection}. */
export interface InspectedDevice {
  readonly id: number;
  readonly totalGPU: number;
  readonly usedGPU: number;
  /** Whoever holds memory of it: bound pods, claims, nominated pods. */
  readonly pods: readonly { readonly name: string; readonly namespace: string; readonly usedGPU: number }[];
}

/** Who holds what of one node. */
export function inspectNode(node: PlacedNode, usage: Usage): InspectedNode {
  const devs = node.devices.map(({ id, total }) => ({
    id: Number(id),
    totalGPU: Number(total),
    usedGPU: Number(usage.used(id)),
    pods: usage.holders
      .filter(({ device }) => device === undefined || device === id)
      .map(({ name, namespace, amount }) => ({ name, namespace, usedGPU: Number(amount) })),
  }));
  return {
    name: node.name,
    totalGPU: Number(gpuCapacity(node.object)),
    usedGPU: devs.reduce((sum, { usedGPU }) => sum + usedGPU, 0),
    devs,
  };
}

/** The answer about a node that is not known; gpushare breaks the connection. */
export function inspectUnknown(nodeName: string): Inspection {
  return { nodes: [], error: `node ${JSON.stringify(nodeName)} is not known: kubectl get nodes lists those that are` };
}
