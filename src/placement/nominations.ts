import { chooseDevice, freeOf, type Holder, type Usage, usageOfHolders } from "./holdings.ts";
import type { DeviceSlot, PlacedNode, PlacedPod } from "./model.ts";
import { isTerminating } from "./placed.ts";

/** The pods bound to a node, and what they and the node's claims hold. */
export interface Occupied {
  readonly pods: readonly PlacedPod[];
  readonly usage: Usage;
}

/**
 * The devices that pods nominated to a node hold.
 *
 * A nomination names a node and no device: which device its victims free has to be found out from the node. So each
 * nominated pod, the highest priority first, holds its request on the device that would be chosen for it: now, or, if
 * none has room yet, once the pods that are already terminating are gone. Failing that too, because some victim is not
 * marked yet, it holds the one that then has most free, of those that evicting lower priorities could free enough. A
 * pod that no device of the node could take even so holds nothing, and one with a claim holds that already.
 */
export function nominations(
  node: PlacedNode,
  nominated: readonly PlacedPod[],
  { pods, usage }: Occupied,
): readonly Holder[] {
  const holding = new Set(usage.holders.map(({ uid }) => uid));
  const leaving = uidsOf(pods.filter(isTerminating));
  const waiting = nominated.filter((pod) => isWaiting(node, pod) && !holding.has(pod.uid)).sort(byPriority);
  const found: Holder[] = [];
  for (const { uid, namespace, name, request, priority } of waiting) {
    const now = [...usage.holders, ...found];
    const soon = without(now, leaving);
    const weaker = uidsOf(pods.filter((pod) => pod.priority < priority));
    const slot =
      chooseDevice(node, usageOfHolders(now), request) ??
      chooseDevice(node, usageOfHolders(soon), request) ??
      emptiest(node, request, { soon: usageOfHolders(soon), atBest: usageOfHolders(without(soon, weaker)) });
    if (slot) found.push({ uid, namespace, name, device: slot.id, amount: request, by: "nomination" });
  }
  return found;
}

function isWaiting(node: PlacedNode, pod: PlacedPod): boolean {
  return (
    pod.nodeName === "" &&
    pod.nominatedNode === node.name &&
    pod.request > 0n &&
    pod.problem === undefined &&
    !pod.terminal &&
    !isTerminating(pod)
  );
}

function byPriority(left: PlacedPod, right: PlacedPod): number {
  return right.priority - left.priority || (left.uid < right.uid ? -1 : 1);
}

function uidsOf(pods: readonly PlacedPod[]): ReadonlySet<string> {
  return new Set(pods.map(({ uid }) => uid));
}

function without(holders: readonly Holder[], gone: ReadonlySet<string>): readonly Holder[] {
  return holders.filter(({ uid }) => !gone.has(uid));
}

interface Outlook {
  readonly soon: Usage;
  readonly atBest: Usage;
}

/** The device with most free memory among those that can come to have enough; the lowest id of several. */
function emptiest(node: PlacedNode, request: bigint, { soon, atBest }: Outlook): DeviceSlot | undefined {
  const able = node.devices.filter((slot) => slot.healthy && freeOf(slot, atBest) >= request);
  return able.sort((left, right) => {
    const [a, b] = [freeOf(left, soon), freeOf(right, soon)];
    return a === b ? Number(left.id) - Number(right.id) : a > b ? -1 : 1;
  })[0];
}
