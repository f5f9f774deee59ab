import { Unreadable } from "../policy/view.ts";
import { nodeAllocatable } from "../policy/views/allocatable.ts";
import type { Amounts } from "../policy/views/amounts.ts";
import { podRequests } from "../policy/views/pod-requests.ts";
import { RESOURCE_PATHS } from "../policy/views/pod-resources.ts";
import { field, isObject, type Json } from "../protocol/json.ts";
import type { PlacedNode, PlacedPod } from "./model.ts";

/** Every place of a pod, and of a node, that {@link roomFor} looks at. */
export const ROOM_PATHS: { readonly pod: readonly string[]; readonly node: readonly string[] } = {
  pod: [...RESOURCE_PATHS, "spec.affinity", "spec.resourceClaims", "spec.topologySpreadConstraints", "spec.volumes"],
  node: ["status.allocatable"],
};

/** Who is on a node, or on the way to it. */
export interface Neighbours {
  /** Pods bound to the node, in any phase. */
  readonly bound: readonly PlacedPod[];
  /** Pods nominated to it. */
  readonly nominated: readonly PlacedPod[];
}

/**
 * Tells when kube-scheduler's own plugins are sure to take a pod on a node that some pods have left, for a node where
 * they took it after kube-scheduler's own victims were gone.
 *
 * Only resources are counted, as NodeResourcesFit does, nominated pods of the same or higher priority among them. Where
 * something else than resources can decide (ports, volumes, resource claims, spreading, affinity between pods), or an
 * amount cannot be read, it is never sure and answers false.
 */
export function roomFor(
  pod: PlacedPod,
  node: PlacedNode,
  { bound, nominated }: Neighbours,
): (without: ReadonlySet<string>) => boolean {
  const others = [
    ...bound.filter(({ terminal, uid }) => !terminal && uid !== pod.uid),
    ...nominated.filter(({ priority, uid }) => priority >= pod.priority && uid !== pod.uid),
  ];
  const needed = requestsOf(pod);
  const allocatable = allocatableOf(node);
  const takes = new Map(others.map((other) => [other.uid, requestsOf(other)]));
  const readable = [...takes.values()].every((amounts) => amounts !== undefined);
  if (needed === undefined || allocatable === undefined || !readable || !needsOnlyResources(pod)) return () => false;
  return (without) => {
    const staying = others.filter(({ uid }) => !without.has(uid));
    if (staying.some(keepsOthersAway) || BigInt(staying.length) >= (allocatable["pods"] ?? 0n)) return false;
    return Object.entries(needed).every(([resource, amount]) => {
      const taken = staying.reduce((sum, { uid }) => sum + (takes.get(uid)?.[resource] ?? 0n), 0n);
      return amount <= 0n || taken + amount <= (allocatable[resource] ?? 0n);
    });
  };
}

function requestsOf({ object }: PlacedPod): Amounts | undefined {
  const requests = podRequests.read?.(object, 0);
  return requests instanceof Unreadable ? undefined : requests;
}

function allocatableOf({ object }: PlacedNode): Amounts | undefined {
  const allocatable = nodeAllocatable.read?.(object, 0);
  return allocatable instanceof Unreadable ? undefined : allocatable;
}

/** Volumes that no plugin of kube-scheduler looks at. */
const LOCAL_VOLUMES = ["configMap", "downwardAPI", "emptyDir", "hostPath", "image", "projected", "secret"];

function needsOnlyResources({ object }: PlacedPod): boolean {
  const spec = field(object, "spec");
  const affinity = field(spec, "affinity");
  const between = [field(affinity, "podAffinity"), field(affinity, "podAntiAffinity")];
  if (between.some((value) => (value ?? undefined) !== undefined)) return false;
  if (listOf(spec, "topologySpreadConstraints").length > 0 || listOf(spec, "resourceClaims").length > 0) return false;
  const containers = [...listOf(spec, "containers"), ...listOf(spec, "initContainers")];
  const ports = containers.flatMap((container) => listOf(container, "ports"));
  if (ports.some((port) => (field(port, "hostPort") ?? 0) !== 0)) return false;
  return listOf(spec, "volumes").every((volume) => LOCAL_VOLUMES.some((kind) => isObject(field(volume, kind))));
}

function keepsOthersAway({ object }: PlacedPod): boolean {
  const away = field(field(field(object, "spec"), "affinity"), "podAntiAffinity");
  return listOf(away, "requiredDuringSchedulingIgnoredDuringExecution").length > 0;
}

function listOf(value: Json | undefined, key: string): readonly Json[] {
  const list = field(value, key);
  return Array.isArray(list) ? list : [];
}
