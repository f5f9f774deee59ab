import type { CallerConfiguration, Configuration } from "../policy/configuration.ts";
import type { FleetFacts } from "../policy/facts.ts";
import { fleetLookup } from "../policy/lookup.ts";
import type { Policy } from "../policy/policy.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import { GPUSHARE_PROFILE, gpusharePolicy, noFacts } from "./gpushare.ts";
import type { LivePolicy } from "./live.ts";

/** The two files of a policy, checked. */
export interface PolicyDocuments {
  readonly configuration: Configuration;
  readonly facts: FleetFacts;
}

/** A policy and the facts of the fleet that it was loaded with. */
export interface Loaded {
  readonly policy: Policy;
  readonly facts: FleetFacts;
}

/** Everything the binder decides by. */
export interface BinderPolicies {
  readonly profiles: ReadonlyMap<string, Loaded>;
  readonly callers: readonly CallerConfiguration[];
}

/** The profiles of berth.yaml, if there is one, and the built-in one that stands in for gpushare. */
export async function binderPolicies(documents: PolicyDocuments | undefined): Promise<BinderPolicies> {
  const profiles = new Map<string, Loaded>();
  const set = documents && (await loadPolicies(documents.configuration, documents.facts, registry));
  if (set) for (const [name, policy] of set.policies) profiles.set(name, { policy, facts: set.facts });
  const facts = noFacts();
  profiles.set(GPUSHARE_PROFILE, { policy: await gpusharePolicy(facts), facts });
  return { profiles, callers: set?.callers ?? [] };
}

/** Joins every profile with the cluster. */
export function livePolicies(
  { profiles }: BinderPolicies,
  { state, now }: Pick<LivePolicy, "state" | "now">,
): ReadonlyMap<string, LivePolicy> {
  const live = ([name, { policy, facts }]: [string, Loaded]): [string, LivePolicy] => [
    name,
    { policy, facts, around: fleetLookup(facts), state, now },
  ];
  return new Map([...profiles].map(live));
}
