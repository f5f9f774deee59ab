import { judgingAlike } from "../policy/alike.ts";
import type { CallerConfiguration, Configuration } from "../policy/configuration.ts";
import type { FleetFacts } from "../policy/facts.ts";
import { fleetLookup } from "../policy/lookup.ts";
import type { Policy } from "../policy/policy.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import type { Far } from "../remote/far.ts";
import type { PolicySource } from "../remote/source.ts";
import { isStandIn } from "../remote/stand-in.ts";
import { GPUSHARE_PROFILE, gpusharePolicy, noFacts } from "./gpushare.ts";
import { type LivePolicy, liveKinds } from "./live.ts";

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

/** What this program itself was given to decide by. */
export interface OwnPolicies {
  readonly profiles: ReadonlyMap<string, Loaded>;
  readonly callers: readonly CallerConfiguration[];
}

/** The profiles of berth.yaml, if there is one, and the built-in one that stands in for gpushare. */
export async function ownPolicies(documents: PolicyDocuments | undefined): Promise<OwnPolicies> {
  const profiles = new Map<string, Loaded>();
  const set = documents && (await loadPolicies(documents.configuration, documents.facts, registry));
  if (set) for (const [name, policy] of set.policies) profiles.set(name, { policy, facts: set.facts });
  const facts = noFacts();
  profiles.set(GPUSHARE_PROFILE, { policy: await gpusharePolicy(facts), facts });
  return { profiles, callers: set?.callers ?? [] };
}

/** Hears that a profile is decided by another version from now on; `before` is absent when there was none. */
export type PolicyChange = (now: LivePolicy, before: LivePolicy | undefined) => void;

/** The policies in force, joined with the cluster. Each changes as a whole, from one request to the next. */
export interface LivePolicies {
  get(profile: string): LivePolicy | undefined;
  /** True for a profile that belongs here, be it that its policy has not come yet. */
  has(profile: string): boolean;
  values(): readonly LivePolicy[];
  /** Takes other policies of its own. Those of the same version stay as they are. */
  replaceOwn(own: OwnPolicies["profiles"]): void;
  subscribe(hear: PolicyChange): void;
}

/** What policies are joined with. */
export interface Joining extends Pick<LivePolicy, "state" | "now"> {
  /** Follows the policies of a function, of these profiles. */
  readonly source?: PolicySource;
  readonly sourced?: readonly string[];
  /** For the plugins of a policy that only the function has. */
  far?(policy: Policy): Far | undefined;
}

/** Joins policies, of this program's own and of a function, with the cluster. */
export function livePolicies(own: OwnPolicies["profiles"], joining: Joining): LivePolicies {
  const { source, sourced = [] } = joining;
  const live = new Map<string, LivePolicy>();
  const hearers = new Set<PolicyChange>();
  const put = (profile: string, loaded: Loaded): void => {
    const before = live.get(profile);
    if (before?.policy.version === loaded.policy.version) return;
    const now = join(loaded, joining);
    live.set(profile, now);
    for (const hear of hearers) hear(now, before);
  };
  const replaceOwn = (profiles: OwnPolicies["profiles"]): void => {
    for (const name of live.keys()) if (!profiles.has(name) && !sourced.includes(name)) live.delete(name);
    for (const [name, loaded] of profiles) put(name, loaded);
  };
  replaceOwn(own);
  for (const profile of sourced) {
    const policy = source?.current(profile);
    if (policy) put(profile, policy);
  }
  source?.subscribe(put);
  return {
    get: (profile) => live.get(profile),
    has: (profile) => live.has(profile) || sourced.includes(profile),
    values: () => [...live.values()],
    replaceOwn,
    subscribe: (hear) => void hearers.add(hear),
  };
}

function join({ policy, facts }: Loaded, { state, now, far: farOf }: Joining): LivePolicy {
  const quick = judgingAlike(policy, isStandIn);
  const far = farOf?.(quick);
  const around = fleetLookup(facts);
  return { policy, quick, kinds: liveKinds(policy), facts, around, state, now, ...(far && { far }) };
}
