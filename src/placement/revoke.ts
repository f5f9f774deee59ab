import type { ProtocolContext } from "./ledger-store.ts";
import type { Claim, PlacedPod } from "./model.ts";
import type { RevocationOutcome } from "./ports.ts";
import { type FreshPod, readPod, standing } from "./standing.ts";

/** What is to become of a claim: only `ended` and `revoked` ones may be taken out of the ledger. */
export type Verdict =
  | { readonly kind: "stays" }
  /** Its pod can never be bound to the node again. */
  | { readonly kind: "ended" }
  /** Its pod carries `berth.dev/revoked` now: every Binding made under the claim is void. */
  | { readonly kind: "revoked" }
  /** Not known now; it stays. */
  | { readonly kind: "problem"; readonly problem: string };

/** A claim in the ledger of a node. */
export interface Held {
  readonly nodeName: string;
  readonly claim: Claim;
}

/**
 * Judges a claim by its pod as it is now, and revokes it when `overdue` and the pod is still unbound. The order keeps
 * devices safe: first the pod is patched under the resourceVersion that showed it unbound, and only what this answers
 * `revoked` may be dropped. A crash in between leaves a claim that the next tick revokes again.
 */
export async function judgeClaim(context: ProtocolContext, held: Held, overdue: boolean): Promise<Verdict> {
  const { claim, nodeName } = held;
  const read = await readPod(context, { namespace: claim.namespace, name: claim.podName });
  if (read.kind === "unknown") return problem(held, `cannot be read: ${read.message}`);
  const pod = podOf(read);
  const stands = standing(pod, claim.podUid, nodeName);
  if (stands === "over") return { kind: "ended" };
  if (pod === undefined || stands === "here" || !overdue) return { kind: "stays" };
  const outcome = await context.ports.markRevoked({
    namespace: claim.namespace,
    name: claim.podName,
    uid: claim.podUid,
    resourceVersion: pod.resourceVersion,
    claimId: claim.id,
  });
  return judgeRevocation(held, outcome);
}

function judgeRevocation(held: Held, outcome: RevocationOutcome): Verdict {
  switch (outcome.kind) {
    case "patched":
      return { kind: "revoked" };
    case "gone":
      return { kind: "ended" };
    case "conflict":
      return { kind: "stays" };
    case "rejected":
      return problem(held, `cannot be patched: HTTP ${outcome.status}: ${outcome.message}`);
    case "unknown":
      return problem(held, `may be patched or not: ${outcome.message}`);
  }
}

function podOf(read: Exclude<FreshPod, { kind: "unknown" }>): PlacedPod | undefined {
  return read.kind === "pod" ? read.pod : undefined;
}

function problem({ claim, nodeName }: Held, what: string): Verdict {
  const pod = `${claim.namespace}/${claim.podName}`;
  return { kind: "problem", problem: `Pod ${pod}, which holds a device of node ${nodeName}, ${what}` };
}
