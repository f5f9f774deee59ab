import type { Claim, Ledger, PlacedPod } from "./model.ts";

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

/** What a new claim is made of. */
export interface ClaimTerms {
  /** Never used before, by any binder. */
  readonly id: string;
  readonly pod: Pick<PlacedPod, "uid" | "namespace" | "name" | "request">;
  readonly device: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The claim that the ledger holds for the pod, if any. There is one at most. */
export function claimOf(ledger: Ledger, podUid: string): Claim | undefined {
  return ledger.claims.find((claim) => claim.podUid === podUid);
}

/**
 * The ledger with a claim for the pod in place of the one it had. A pod that had one must stay on its device: a
 * Binding made under the earlier claim may still arrive.
 */
export function withClaim(ledger: Ledger, { id, pod, device, now }: ClaimTerms): { ledger: Ledger; claim: Claim } {
  const assumeTime = nextAssumeTime(ledger.lastAssumeTime, now);
  const claim: Claim = {
    id,
    podUid: pod.uid,
    namespace: pod.namespace,
    podName: pod.name,
    device,
    amount: pod.request,
    assumeTime,
    claimedAt: now,
  };
  const others = ledger.claims.filter(({ podUid }) => podUid !== pod.uid);
  return { ledger: { ...ledger, lastAssumeTime: assumeTime, claims: [...others, claim] }, claim };
}

/**
 * The next assume time in nanoseconds: by the clock, but always later than the last one of the node, although the
 * clock has milliseconds and may jump back. The device plugin matches pods in this order.
 */
export function nextAssumeTime(last: bigint, now: number): bigint {
  const byClock = BigInt(Math.max(0, Math.trunc(now))) * NANOSECONDS_PER_MILLISECOND;
  return byClock > last ? byClock : last + 1n;
}

/** Claims to take out: by pod when the pod can never be bound here again, by claim when that claim was revoked. */
export interface Removal {
  readonly podUids?: ReadonlySet<string>;
  readonly claimIds?: ReadonlySet<string>;
}

/** The ledger without these claims; no ledger when it holds none of them. `removed` are those it held. */
export function withoutClaims(
  ledger: Ledger,
  { podUids, claimIds }: Removal,
): { readonly ledger?: Ledger; readonly removed: readonly Claim[] } {
  const goes = (claim: Claim) => podUids?.has(claim.podUid) === true || claimIds?.has(claim.id) === true;
  const removed = ledger.claims.filter(goes);
  if (removed.length === 0) return { removed };
  return { ledger: { ...ledger, claims: ledger.claims.filter((claim) => !goes(claim)) }, removed };
}

/** When and under which ids adopted claims are entered. */
export interface Adoption {
  readonly now: number;
  newId(): string;
}

/**
 * The ledger with a claim for every pod that is bound to its node with a device, as a fresh list shows them. A pod
 * that the ledger knows on another device moves to the one it was bound with.
 */
export function adoptPods(ledger: Ledger, pods: readonly PlacedPod[], { now, newId }: Adoption): Ledger {
  const claims = new Map(ledger.claims.map((claim) => [claim.podUid, claim]));
  let { lastAssumeTime } = ledger;
  for (const pod of pods) {
    if (pod.assigned === undefined || pod.terminal || pod.nodeName !== ledger.nodeName) continue;
    const { device, amount, assumeTime = 0n } = pod.assigned;
    if (assumeTime > lastAssumeTime) lastAssumeTime = assumeTime;
    const known = claims.get(pod.uid);
    if (known?.device === device && known.amount === amount) continue;
    const { uid: podUid, namespace, name: podName } = pod;
    claims.set(podUid, { id: newId(), podUid, namespace, podName, device, amount, assumeTime, claimedAt: now });
  }
  return { ...ledger, lastAssumeTime, claims: [...claims.values()] };
}
