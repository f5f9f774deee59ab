import type { DeviceSlot, PlacedNode } from "./model.ts";

/** One that holds device memory on a node. */
export interface Holder {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The device; absent for one that counts on every device, because nothing says which it uses. */
  readonly device?: string;
  readonly amount: bigint;
  readonly by: "pod" | "claim" | "nomination";
}

/** Who holds what of a node's devices. */
export interface Usage {
  /** Bound pods first, then claims, then nominated pods. */
  readonly holders: readonly Holder[];
  /** What is held of a device; it can exceed what the device has. */
  used(device: string): bigint;
}

/** Adds up what holders hold. */
export function usageOfHolders(holders: readonly Holder[]): Usage {
  const byDevice = new Map<string, bigint>();
  let everywhere = 0n;
  for (const { device, amount } of holders) {
    if (device === undefined) everywhere += amount;
    else byDevice.set(device, (byDevice.get(device) ?? 0n) + amount);
  }
  return { holders, used: (device) => (byDevice.get(device) ?? 0n) + everywhere };
}

/** What a device can still take: nothing when it is unhealthy, or holds more than it has. */
export function freeOf(slot: DeviceSlot, usage: Usage): bigint {
  const used = usage.used(slot.id);
  return slot.healthy && used < slot.total ? slot.total - used : 0n;
}

/** Best fit: the device with the smallest sufficient free memory, the lowest id of several; undefined if none has it. */
export function chooseDevice(node: PlacedNode, usage: Usage, request: bigint): DeviceSlot | undefined {
  let best: { readonly slot: DeviceSlot; readonly free: bigint } | undefined;
  for (const slot of node.devices) {
    const free = freeOf(slot, usage);
    if (!slot.healthy || free < request) continue;
    if (!best || free < best.free || (free === best.free && Number(slot.id) < Number(best.slot.id))) {
      best = { slot, free };
    }
  }
  return best?.slot;
}

/** What each holder's going would give back on each device, by UID; in the order of the node's devices. */
export function heldByDevice(node: PlacedNode, usage: Usage): readonly ReadonlyMap<string, bigint>[] {
  return node.devices.map(({ id }) => {
    const held = usage.holders.filter(({ device }) => device === undefined || device === id);
    return new Map(held.map(({ uid, amount }) => [uid, amount]));
  });
}
