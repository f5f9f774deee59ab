import type { View } from "./view.ts";
import { nodeAllocatable, nodeAllocatableOf } from "./views/allocatable.ts";
import { devices } from "./views/devices.ts";
import { commitments, prices, zones } from "./views/fleet.ts";
import { gpuRequest } from "./views/gpu-request.ts";
import { podHostPorts } from "./views/host-ports.ts";
import { nodeName, podIdentity, podNamespace, podNodeName, podUid } from "./views/identity.ts";
import { nodeAnnotations, nodeLabels, podAnnotations, podLabels } from "./views/labels.ts";
import { podNodeAffinity } from "./views/node-affinity.ts";
import { nodeRoom } from "./views/node-room.ts";
import { nodeUsage } from "./views/node-usage.ts";
import { podFitRequests, podNonZeroRequests, podRequests, podScoreRequests } from "./views/pod-requests.ts";
import { taints, unschedulable } from "./views/taints.ts";
import { podTolerations } from "./views/tolerations.ts";

const VIEWS: readonly View<unknown>[] = [
  nodeAllocatable,
  devices,
  commitments,
  prices,
  zones,
  gpuRequest,
  podHostPorts,
  nodeName,
  podIdentity,
  podNamespace,
  podNodeName,
  podUid,
  podAnnotations,
  podLabels,
  podNodeAffinity,
  nodeRoom,
  nodeUsage,
  podFitRequests,
  podNonZeroRequests,
  podRequests,
  podScoreRequests,
  taints,
  unschedulable,
  podTolerations,
];

const NARROWED: Readonly<Record<string, (keys?: readonly string[]) => View<unknown>>> = {
  nodeLabels,
  nodeAnnotations,
  nodeAllocatable: (keys = []) => nodeAllocatableOf(keys),
};

/**
 * The view with a name, as a profile told as data names what its plugins read; `nodeLabels(a,b)` is narrowed to those
 * keys. Undefined for a view that this release does not know.
 */
export function viewByName(name: string): View<unknown> | undefined {
  const known = VIEWS.find((view) => view.name === name);
  if (known) return known;
  const [, kind = name, keys] = /^(\w+)\((.*)\)$/.exec(name) ?? [];
  const narrowed = Object.hasOwn(NARROWED, kind) ? NARROWED[kind] : undefined;
  return narrowed?.(keys === undefined ? undefined : keys.split(",").filter((key) => key !== ""));
}

/** Every place of a node that some view reads: whoever keeps these can read for any plugin that is yet to come. */
export function everyNodePath(): string[] {
  const views = [...VIEWS, nodeLabels(), nodeAnnotations()].filter(
    ({ of, read }) => of === "node" && read !== undefined,
  );
  return [...new Set(views.flatMap(({ paths }) => paths))].sort();
}

/** Every view that this release knows, none of them narrowed. */
export function everyView(): View<unknown>[] {
  return [...new Map([...VIEWS, nodeLabels(), nodeAnnotations()].map((view) => [view.name, view])).values()];
}
