import { readClaimLine } from "../../src/placement/claim-line.ts";
import type { Claim } from "../../src/placement/model.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";

/** A ledger as the API server holds it. */
export type StoredLedger = KubeObject & {
  readonly spec: JsonObject & {
    readonly epoch: string;
    readonly format: number;
    readonly claims: readonly string[];
  };
};

/** Instead of a reason, when nobody answered. */
export const NO_ANSWER = "no answer";

/**
 * Asks a binder that is open on this machine to bind a pod, as kube-scheduler would. Gives the reason when it was
 * refused, {@link NO_ANSWER} when nobody answered, and nothing when the pod is bound.
 */
export async function askToBind(url: string, { metadata }: Pod, node: string): Promise<string> {
  const { namespace, name, uid } = metadata;
  const body = JSON.stringify({ PodNamespace: namespace, PodName: name, PodUID: uid, Node: node });
  const headers = { "Content-Type": "application/json" };
  try {
    const answer = await fetch(`${url}/gpushare-scheduler/bind`, { method: "POST", headers, body });
    if (answer.status !== 200) throw new Error(`bind was answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { readonly Error: string }).Error;
  } catch (error) {
    if (error instanceof TypeError) return NO_ANSWER;
    throw error;
  }
}

/** The claims of one node, or of all nodes. */
export async function storedClaims({ api }: ControlPlane, node?: string): Promise<(Claim & { node: string })[]> {
  const ledgers = await api.list<StoredLedger>({ apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger" });
  const wanted = ledgers.filter(({ metadata }) => node === undefined || metadata.name === node);
  return wanted.flatMap((ledger) => claimsIn(ledger).map((claim) => ({ ...claim, node: ledger.metadata.name })));
}

/**
 * The claims of a ledger as the API server holds it.
 *
 * @throws {Error} for one that cannot be read
 */
export function claimsIn({ spec }: StoredLedger): Claim[] {
  return spec.claims.map((line) => {
    const claim = readClaimLine(line);
    if ("fault" in claim) throw new Error(`${line}: ${claim.fault}`);
    return claim;
  });
}
