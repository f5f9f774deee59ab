import type { Bound, ClusterVerbs, Victims } from "../extender/cluster-verbs.ts";
import { podUid } from "../extender/cluster-verbs.ts";
import type { Decider, Deciders, Decision, PodVerb } from "../extender/decider.ts";
import type { Cycles } from "../remote/cycles.ts";
import { type BindOptions, bindLive } from "./bind.ts";
import { absentDecider, liveDecider } from "./decider.ts";
import type { LivePolicy } from "./live.ts";
import type { Metrics } from "./metrics.ts";
import type { LivePolicies } from "./policies.ts";
import type { PolicyWaker } from "./policy-waking.ts";
import { preemptLive } from "./preempt.ts";
import type { Shadow } from "./shadow.ts";

/** What answers kube-scheduler. */
export interface VerbsOptions {
  readonly policies: Pick<LivePolicies, "get" | "has">;
  /** Which version each pod is being placed by, by profile and UID. */
  readonly cycles: Cycles<LivePolicy>;
  /** Hears of every filter that was decided. */
  readonly answered: PolicyWaker["answered"];
  /** Decides the same by another policy, where nobody waits for it. */
  readonly shadow?: Pick<Shadow, "saw"> | undefined;
  readonly binding: BindOptions;
  /** Why nothing can be answered yet, one constant sentence; undefined once it can. */
  unready(): string | undefined;
  readonly metrics: Pick<Metrics, "request" | "refusal">;
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number;
}

/** The deciders of all profiles, counted. Each request is answered by one version of its policy. */
export function liveDeciders(options: VerbsOptions): Deciders {
  const { policies } = options;
  const deciders = new WeakMap<LivePolicy, Decider>();
  const deciderOf = (live: LivePolicy): Decider => {
    const decider = deciders.get(live) ?? versionDecider(options, live, deciderOf);
    deciders.set(live, decider);
    return decider;
  };
  return (profile) => {
    const live = policies.get(profile);
    if (live) return deciderOf(live);
    return policies.has(profile) ? counted(absentDecider(profile), options) : undefined;
  };
}

/** Decides by one version; `for` hands over to the one that the pod's cycle began with. */
function versionDecider(options: VerbsOptions, live: LivePolicy, deciderOf: (live: LivePolicy) => Decider): Decider {
  const { cycles, answered, shadow } = options;
  const decider = counted(liveDecider(live, options.unready), options, (verb, args, decision) => {
    if (verb === "filter") answered(live, args.pod, decision);
    shadow?.saw(live, verb, args, decision);
  });
  const begin = (verb: PodVerb, key: string): Decider => {
    // An entry without a filter verb begins with prioritize, and every time anew.
    if (verb === "filter") cycles.begin(key, live);
    else if (verb === "prioritize") cycles.judged(key, live);
    return decider;
  };
  return {
    ...decider,
    for(verb: PodVerb, pod: string): Decider {
      if (pod === "") return decider;
      const key = cycleKey(live.policy.profile, pod);
      if (verb === "bind") return { ...decider, policy: cycles.judgedBy(key) ?? decider.policy };
      const began = verb === "filter" ? undefined : cycles.running(key);
      return began ? deciderOf(began) : begin(verb, key);
    },
  };
}

function cycleKey(profile: string, pod: string): string {
  return `${profile}/${pod}`;
}

type Hear = (...asked: [...Parameters<Decider["decide"]>, Awaited<ReturnType<Decider["decide"]>>]) => void;

function counted(decider: Decider, { metrics, elapsed }: VerbsOptions, hear: Hear = () => undefined): Decider {
  return {
    ...decider,
    decide: async (verb, args) => {
      const started = elapsed();
      const decision = await decider.decide(verb, args);
      metrics.request(verb, "error" in decision ? "error" : "decided", (elapsed() - started) / 1000);
      hear(verb, args, decision);
      if (verb === "filter" && !("error" in decision)) countRefusals(decision, metrics);
      return decision;
    },
  };
}

function countRefusals({ rows }: Decision, metrics: Pick<Metrics, "refusal">): void {
  const counts = new Map<string, number>();
  for (const row of rows) {
    if ("refusal" in row) counts.set(row.refusal.plugin, (counts.get(row.refusal.plugin) ?? 0) + 1);
  }
  for (const [plugin, count] of counts) metrics.refusal("filter", plugin, count);
}

/** bind and preempt, counted. */
export function clusterVerbs(options: VerbsOptions): ClusterVerbs {
  const { metrics, elapsed, policies, cycles, binding } = options;
  return {
    async bind(args, asking) {
      const started = elapsed();
      const error = options.unready();
      const bound: Bound =
        error === undefined
          ? await bindLive(binding, args, asking)
          : { error, fields: { pod: `${args.namespace}/${args.name}`, uid: args.uid, outcome: "unready" } };
      const outcome = String(bound.fields["outcome"]);
      const word = bound.error === undefined || outcome === "unknown" ? outcome : "refused";
      metrics.request("bind", word, (elapsed() - started) / 1000);
      if (word === "refused") metrics.refusal("bind", outcome);
      return bound;
    },
    async preempt(args, asking) {
      const started = elapsed();
      const live = cycles.running(cycleKey(asking.profile, podUid(args.pod))) ?? policies.get(asking.profile);
      const error = options.unready() ?? (live === undefined ? "The profile has no policy now" : undefined);
      const victims: Victims =
        live === undefined || error !== undefined ? { error: error ?? "" } : await preemptLive(live, args);
      metrics.request("preempt", "error" in victims ? "error" : "decided", (elapsed() - started) / 1000);
      return victims;
    },
  };
}
