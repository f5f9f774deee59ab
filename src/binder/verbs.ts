import type { Bound, ClusterVerbs, Victims } from "../extender/cluster-verbs.ts";
import type { Decider, Deciders, Decision } from "../extender/decider.ts";
import { type BindOptions, bindLive } from "./bind.ts";
import { liveDecider } from "./decider.ts";
import type { LivePolicy } from "./live.ts";
import type { Metrics } from "./metrics.ts";
import { preemptLive } from "./preempt.ts";

/** What answers kube-scheduler. */
export interface VerbsOptions {
  readonly policies: ReadonlyMap<string, LivePolicy>;
  readonly binding: BindOptions;
  /** Why nothing can be answered yet, one constant sentence; undefined once it can. */
  unready(): string | undefined;
  readonly metrics: Pick<Metrics, "request" | "refusal">;
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number;
}

/** The deciders of all profiles, counted. */
export function liveDeciders(options: VerbsOptions): Deciders {
  const deciders = new Map<string, Decider>();
  for (const [name, live] of options.policies) deciders.set(name, counted(liveDecider(live, options.unready), options));
  return (profile) => deciders.get(profile);
}

function counted(decider: Decider, { metrics, elapsed }: VerbsOptions): Decider {
  return {
    ...decider,
    decide: async (verb, args) => {
      const started = elapsed();
      const decision = await decider.decide(verb, args);
      metrics.request(verb, "error" in decision ? "error" : "decided", (elapsed() - started) / 1000);
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
  const { metrics, elapsed, policies, binding } = options;
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
      const live = policies.get(asking.profile);
      const error = options.unready() ?? (live === undefined ? "The profile is not known" : undefined);
      const victims: Victims =
        live === undefined || error !== undefined ? { error: error ?? "" } : preemptLive(live, args);
      metrics.request("preempt", "error" in victims ? "error" : "decided", (elapsed() - started) / 1000);
      return victims;
    },
  };
}
