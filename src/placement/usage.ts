import type { Device, Devices } from "../policy/views/devices.ts";
import { GPU_MEMORY } from "../policy/views/gpu-request.ts";
import { type Holder, type Usage, usageOfHolders } from "./holdings.ts";
import type { Claim, PlacedNode, PlacedPod } from "./model.ts";
import { nominations } from "./nominations.ts";

/** What is known of one node. */
export interface Presence {
  /** Pods bound to the node, in any phase. */
  readonly pods: readonly PlacedPod[];
  /** The claims of the node's ledger. */
  readonly claims: readonly Claim[];
  /** Pods that are not bound yet and nominated to the node. */
  readonly nominated?: readonly PlacedPod[];
}

/** For whom, and in which case, one asks. */
export interface Viewpoint {
  /** The pod that asks: what it holds itself is free to it, and so is what pods of lower priority are nominated to. */
  readonly for?: { readonly uid: string; readonly priority: number };
  /** UIDs of pods imagined gone. */
  readonly without?: ReadonlySet<string>;
}

/**
 * Who holds what: bound pods and claims by UID, so that a pod with both counts once, as its annotations say; and pods
 * nominated to the node.
 *
 * A bound pod that asks for device memory and names none of the node's devices counts on every one of them. Pods in a
 * terminal phase hold nothing, and neither do their claims; terminating ones still do.
 */
export function usageOf(node: PlacedNode, presence: Presence, viewpoint: Viewpoint = {}): Usage {
  const skipped = (uid: string) => uid === viewpoint.for?.uid || viewpoint.without?.has(uid) === true;
  const known = new Set<string>();
  const holders: Holder[] = [];
  for (const pod of presence.pods) {
    if (pod.nodeName !== node.name) continue;
    known.add(pod.uid);
    if (!pod.terminal && pod.request > 0n && !skipped(pod.uid)) holders.push(boundHolder(node, pod));
  }
  const claims = presence.claims.filter(({ podUid }) => !known.has(podUid) && !skipped(podUid));
  holders.push(...largestByPodAndDevice(claims.map((claim) => claimHolder(node, claim))));
  const held = usageOfHolders(holders);
  const nominated = (presence.nominated ?? []).filter(
    ({ uid, priority }) => !skipped(uid) && !(viewpoint.for !== undefined && priority < viewpoint.for.priority),
  );
  if (nominated.length === 0) return held;
  return usageOfHolders([...holders, ...nominations(node, nominated, { pods: presence.pods, usage: held })]);
}

/** The node's devices as the policy's view `devices` has them, and as they are published. */
export function devicesOf(node: PlacedNode, usage: Usage, generation = 0): Devices {
  return { generation, devices: node.devices.length === 0 ? {} : { [GPU_MEMORY]: deviceList(node, usage) } };
}

function deviceList(node: PlacedNode, usage: Usage): readonly Device[] {
  return node.devices.map(({ id, total, healthy }) => ({ id, total, used: usage.used(id), healthy }));
}

function boundHolder(node: PlacedNode, { uid, namespace, name, request, assigned }: PlacedPod): Holder {
  const place = assigned === undefined ? {} : placeOn(node, assigned.device);
  const amount = place.device === undefined ? request : (assigned?.amount ?? request);
  return { uid, namespace, name, ...place, amount, by: "pod" };
}

function claimHolder(node: PlacedNode, { podUid, namespace, podName, device, amount }: Claim): Holder {
  return { uid: podUid, namespace, name: podName, ...placeOn(node, device), amount, by: "claim" };
}

/** A pod has one claim on a node; should a ledger ever hold two, they count once on each device. */
function largestByPodAndDevice(holders: readonly Holder[]): Iterable<Holder> {
  const largest = new Map<string, Holder>();
  for (const holder of holders) {
    const key = `${holder.uid}/${holder.device ?? ""}`;
    const before = largest.get(key);
    if (!before || before.amount < holder.amount) largest.set(key, holder);
  }
  return largest.values();
}

function placeOn(node: PlacedNode, device: string): { readonly device?: string } {
  return node.devices.some(({ id }) => id === device) ? { device } : {};
}
