import { type BindArgs, bindAnswer, readBindArgs } from "../protocol/bind.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { type MetaVictims, type PreemptArgs, preemptAnswer, readPreemptArgs } from "../protocol/preempt.ts";
import type { Admitted, Turned } from "./admit.ts";
import type { Peer } from "./callers.ts";

/** Whom a verb is asked for, and who waits for the answer. */
export interface Asking {
  readonly profile: string;
  /** `<profile>@<version>` */
  readonly policy: string;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
}

/** What came of a bind. */
export interface Bound {
  /** Why the pod was not bound, one constant sentence for a cause; absent when it is. */
  readonly error?: string;
  /** What the log says of it. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The victims by node, or why nobody can tell now. */
export type Victims = { readonly victims: ReadonlyMap<string, MetaVictims> } | { readonly error: string };

/** The verbs that need the cluster itself: they change it, or ask what is in it. */
export interface ClusterVerbs {
  bind(args: BindArgs, asking: Asking): Promise<Bound>;
  preempt(args: PreemptArgs, asking: Asking): Promise<Victims>;
}

/**
 * Both verbs move pods, so a secret that may be in somebody's log is not enough: they take a client certificate that
 * was verified, or a caller on this very machine.
 */
export function barred({ verb, caller }: Admitted, peer: Peer): Turned | undefined {
  if ((verb !== "bind" && verb !== "preempt") || peer.certificate !== undefined || peer.loopback) return undefined;
  return { status: 403, error: `${verb} takes a verified client certificate, or a caller on this machine`, caller };
}

/** An answer to either verb, and what the log says of it. */
export interface ClusterAnswer {
  readonly status: 200 | 503;
  readonly body: Uint8Array<ArrayBuffer>;
  /** `<profile>@<version>` that it was answered by. */
  readonly policy: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

/**
 * Reads the question, asks and writes the answer.
 *
 * @throws {ShapeError} for a body that makes no sense
 */
export async function answerCluster(
  verbs: ClusterVerbs,
  { admitted, body, signal }: { readonly admitted: Admitted; readonly body: Uint8Array; readonly signal: AbortSignal },
): Promise<ClusterAnswer> {
  const { profile, verb } = admitted;
  const policyFor = (pod: string) =>
    verb === "bind" || verb === "preempt" ? admitted.decider.for?.(verb, pod) : undefined;
  const askingFor = (pod: string): Asking => ({ profile, policy: (policyFor(pod) ?? admitted.decider).policy, signal });
  if (verb === "bind") {
    const args = readBindArgs(body);
    const asking = askingFor(args.uid);
    const bound = await verbs.bind(args, asking);
    return { status: 200, body: bindAnswer(bound.error ?? ""), policy: asking.policy, ...bound };
  }
  const args = readPreemptArgs(body);
  const asking = askingFor(podUid(args.pod));
  const answer = await verbs.preempt(args, asking);
  const described = { policy: asking.policy, fields: describe(args) };
  if ("victims" in answer) {
    const { victims } = answer;
    const fields = { ...described.fields, helped: victims.size };
    return { status: 200, body: preemptAnswer(victims), ...described, fields };
  }
  // The answer has no error field; kube-scheduler tries the pod again after a status that is not 200.
  return { status: 503, body: preemptAnswer(new Map()), ...described, error: answer.error };
}

/** A pod's UID, empty where it has none. */
export function podUid(pod: JsonObject): string {
  const uid = field(field(pod, "metadata"), "uid");
  return typeof uid === "string" ? uid : "";
}

function describe({ pod, victims }: PreemptArgs) {
  const metadata = field(pod, "metadata");
  const text = (key: string) => String(field(metadata, key) ?? "").slice(0, 253);
  return { pod: `${text("namespace")}/${text("name")}`, uid: text("uid"), nodes: victims.size };
}
