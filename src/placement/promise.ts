import { type BindAnswer, refuse, refuseDevice } from "./bind-answer.ts";
import { claimOf, withClaim } from "./claims.ts";
import type { Edited } from "./lanes.ts";
import type { ProtocolContext } from "./ledger-store.ts";
import type { Claim, DeviceSlot, Ledger, PlacedNode, PlacedPod } from "./model.ts";

/** The device contract, as the protocol needs it. */
export interface DeviceContract {
  /** A device for a pod that holds none yet. `claims` is the ledger now; the pods that are bound, the contract knows. */
  choose(pod: PlacedPod, node: PlacedNode, claims: readonly Claim[]): DeviceChoice;
  /** The annotations that tell the device plugin. */
  annotations(assignment: { slot: DeviceSlot; request: bigint; assumeTime: bigint }): Readonly<Record<string, string>>;
}

/** A device, or one sentence, constant for a cause, why there is none. */
export type DeviceChoice = { readonly slot: DeviceSlot } | { readonly refusal: string };

/** A device promised to a pod. */
export interface Promised {
  readonly kind: "promised";
  readonly claim: Claim;
  readonly slot: DeviceSlot;
}

/** Which pod asks for a device of which node, and the ledger it is to be entered in. */
export interface Question {
  readonly pod: PlacedPod;
  readonly node: PlacedNode;
  readonly ledger: Ledger;
  readonly closed: boolean;
}

/**
 * The edit that promises a device. A pod that holds a promise keeps its device under a new claim: a Binding made under
 * the earlier claim may still arrive, and must find its device kept free.
 */
export function promiseDevice(
  { clock, newId }: Pick<ProtocolContext, "clock" | "newId">,
  contract: DeviceContract,
  { pod, node, ledger, closed }: Question,
): Edited<Promised | BindAnswer> {
  if (closed) return { value: refuse("closed", `node ${node.name}, epoch ${ledger.epoch}`) };
  const held = claimOf(ledger, pod.uid);
  const chosen = held === undefined ? contract.choose(pod, node, ledger.claims) : keep(held, node);
  if ("refusal" in chosen) return { value: refuseDevice(chosen.refusal, pod) };
  const { slot } = chosen;
  const { ledger: next, claim } = withClaim(ledger, { id: newId(), pod, device: slot.id, now: clock.now() });
  return { ledger: next, value: { kind: "promised", claim, slot } };
}

function keep({ device }: Claim, node: PlacedNode): DeviceChoice {
  const slot = node.devices.find(({ id }) => id === device);
  if (slot?.healthy) return { slot };
  return { refusal: "The device promised to the pod is unhealthy or missing; another is chosen after the grace time" };
}
