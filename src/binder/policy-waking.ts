import { LRUCache } from "lru-cache";
import type { Decision, Undecided } from "../extender/decider.ts";
import { isTerminating } from "../placement/placed.ts";
import type { Log } from "../policy/log.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { decideLive } from "./decider.ts";
import { type LivePolicy, nameOf } from "./live.ts";
import type { LivePolicies } from "./policies.ts";
import type { State } from "./state.ts";

/** What waking for policies needs. */
export interface PolicyWakingOptions {
  readonly state: State;
  readonly policies: LivePolicies;
  /** Touches a node, so that the pods that wait are tried again. */
  wake(node: string): void;
  readonly log: Log;
}

/** Wakes pods that a policy has refused, when it would not any more: no event tells kube-scheduler of a new policy. */
export interface PolicyWaker {
  /** `filter` was answered for a pod, by this version. */
  answered(live: LivePolicy, pod: JsonObject, decision: Decision | Undecided): void;
  /** Something changed, other than the policy itself, that may let a profile's pods pass. */
  look(profile: string): void;
  /** Settles when nothing is being looked at. */
  idle(): Promise<void>;
}

/** Pods that wait and are known here: whoever is not among them is tried again within five minutes all the same. */
const MOST_PODS = 1_000;

/** Pods that are looked at for each change; when there are more, one of them is taken to profit. */
const LOOKED_AT = 50;

/**
 * Remembers the pods that were refused somewhere, and looks at them again when their policy changes. Whoever refused
 * them does that, be it the leader or not: it is asked again, and has the new policy by then.
 */
export function createPolicyWaker(options: PolicyWakingOptions): PolicyWaker {
  const { policies, log } = options;
  const refused = new LRUCache<string, Refused>({ max: MOST_PODS });
  let looking: Promise<void> = Promise.resolve();
  const begin = (profile: string, before?: LivePolicy): void => {
    looking = looking
      .then(async () => {
        const now = policies.get(profile);
        const node = now && (await profits(options, refused, { now, before }));
        if (!now || node === undefined) return;
        log("info", "pods that wait are woken for their policy", { policy: nameOf(now), node });
        options.wake(node);
      })
      .catch((error: unknown) => log("error", "pods could not be woken for a policy", { error: String(error) }));
  };
  policies.subscribe((now, before) => begin(now.policy.profile, before));
  return {
    answered(live, pod, decision) {
      const uid = uidOf(pod);
      if (uid === "" || "error" in decision) return;
      const { profile } = live.policy;
      if (decision.rows.every((row) => !("refusal" in row))) return void refused.delete(uid);
      refused.set(uid, { profile, pod });
      // It was decided by a version that has been replaced meanwhile.
      if (policies.get(profile) !== live) begin(profile, live);
    },
    look: (profile) => begin(profile),
    idle: () => looking,
  };
}

interface Refused {
  readonly profile: string;
  readonly pod: JsonObject;
}

/** The node that some pod may go to now and could not before, or undefined. */
async function profits(
  { state }: PolicyWakingOptions,
  refused: LRUCache<string, Refused>,
  change: { readonly now: LivePolicy; readonly before: LivePolicy | undefined },
): Promise<string | undefined> {
  const { profile } = change.now.policy;
  const waiting = [...refused.entries()].filter(
    ([uid, each]) => each.profile === profile && waits(state, refused, uid),
  );
  const nodes = [...state.nodes.values()].map(({ name, object }) => ({ name, object }));
  for (const [, { pod }] of waiting.slice(0, LOOKED_AT)) {
    const [now, before] = [
      await keptBy(change.now, pod, nodes),
      change.before && (await keptBy(change.before, pod, nodes)),
    ];
    const index = now.findIndex((kept, at) => kept && before?.[at] !== true);
    if (index >= 0) return nodes[index]?.name;
    // Requests are answered in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return waiting.length > LOOKED_AT ? nodes[0]?.name : undefined;
}

function waits(state: State, refused: LRUCache<string, Refused>, uid: string): boolean {
  const pod = state.pods.byUid(uid);
  const waiting = pod !== undefined && pod.nodeName === "" && !isTerminating(pod);
  if (!waiting) refused.delete(uid);
  return waiting;
}

async function keptBy(
  live: LivePolicy,
  pod: JsonObject,
  nodes: readonly { readonly name: string; readonly object: JsonObject }[],
): Promise<readonly boolean[]> {
  const decision = await decideLive(live, "filter", { pod, nodes });
  return "error" in decision ? [] : decision.rows.map((row) => !("refusal" in row));
}

function uidOf(pod: JsonObject): string {
  const uid = field(field(pod, "metadata"), "uid");
  return typeof uid === "string" ? uid : "";
}
