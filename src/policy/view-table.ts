import type { View } from "./view.ts";
import { nodeAllocatable } from "./views/allocatable.ts";
import { devices } from "./views/devices.ts";
import { commitments, prices, zones } from "./views/fleet.ts";
import { gpuRequest } from "./views/gpu-request.ts";
import { nodeName, podIdentity, podNamespace, podUid } from "./views/identity.ts";
import { nodeAnnotations, nodeLabels, podAnnotations, podLabels } from "./views/labels.ts";
import { podNonZeroRequests, podRequests } from "./views/pod-requests.ts";
import { taints, unschedulable } from "./views/taints.ts";

const VIEWS: readonly View<unknown>[] = [
  nodeAllocatable,
  devices,
  commitments,
  prices,
  zones,
  gpuRequest,
  nodeName,
  podIdentity,
  podNamespace,
  podUid,
  podAnnotations,
  podLabels,
  podNonZeroRequests,
  podRequests,
  taints,
  unschedulable,
];

const NARROWED: Readonly<Record<string, (keys?: readonly string[]) => View<unknown>>> = { nodeLabels, nodeAnnotations };

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
