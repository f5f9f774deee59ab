import { systemTiming } from "../cluster/timing.ts";
import { type CallerOptions, type Identify, prepareCallers } from "../extender/callers.ts";
import { type Cycles, createCycles } from "../remote/cycles.ts";
import { type FarRows, startFarRows } from "./far-rows.ts";
import { GPUSHARE_PROFILE } from "./gpushare.ts";
import { type LivePolicy, nameOf } from "./live.ts";
import { type FollowedFiles, followFiles, type ReadDocuments } from "./own-policies.ts";
import type { Parts } from "./parts.ts";
import { type LivePolicies, livePolicies, type OwnPolicies, ownPolicies, type PolicyDocuments } from "./policies.ts";
import type { PolicyState } from "./policy-metrics.ts";
import { createPolicyWaker, type PolicyWaker } from "./policy-waking.ts";
import type { Relay } from "./relay.ts";
import { createShadow, type Shadow } from "./shadow.ts";

/** By what the binder decides, and who may ask it: both change while it runs. */
export interface Governing {
  readonly policies: LivePolicies;
  readonly cycles: Cycles<LivePolicy>;
  readonly waker: PolicyWaker;
  readonly identify: Identify;
  /** Absent: no policy is decided in the shadow of another. */
  readonly shadow: Shadow | undefined;
  states(): readonly PolicyState[];
  stop(): Promise<void>;
}

/** What the binder was given to decide by. */
export interface Given {
  readonly own: OwnPolicies;
  readonly identify: Identify;
  readonly files?: { readonly read: ReadDocuments; readonly first: PolicyDocuments };
}

/** Where policies come from beside the files. */
export interface Sourced {
  readonly relay: Relay | undefined;
  /** Another function, whose policies are only tried in the shadow of those in force. */
  readonly trial: Relay | undefined;
  /** Which profile is decided in the shadow of which. */
  readonly shadows: ReadonlyMap<string, string> | undefined;
}

/** Reads what the binder is given. Rejects with a sentence when it makes no sense. */
export async function readGiven(read: ReadDocuments | undefined, options: CallerOptions): Promise<Given> {
  const first = await read?.();
  const own = await ownPolicies(first);
  const identify = await prepareCallers(own.callers, options);
  return { own, identify, ...(read && first && { files: { read, first } }) };
}

/** Joins policies and cluster, and follows both the files and the function. */
export function govern(given: Given, { relay, trial, shadows }: Sourced, within: Parts & CallerOptions): Governing {
  const { core, leadership, log } = within;
  const joining = { state: core.state, now: Date.now };
  // Both know each other: a function that is back wakes pods, and pods are looked at by what the function says.
  let waker: PolicyWaker | undefined;
  const far = relay && farRows(within, relay, () => relay.profiles.map((profile) => waker?.look(profile)));
  const sourced = relay && far && { source: relay.source, sourced: relay.profiles, far: far.of };
  const policies = livePolicies(given.own.profiles, { ...joining, ...sourced });
  waker = createPolicyWaker({ state: core.state, policies, wake: leadership.waker.wake, log });
  const shadow = shadows && startShadow(within, policies, { trial, shadows });
  let { identify } = given;
  const files =
    given.files &&
    followFiles({
      ...given.files,
      log,
      async apply(documents) {
        const own = await ownPolicies(documents);
        identify = await prepareCallers(own.callers, within);
        policies.replaceOwn(own.profiles);
        log("info", "the policy's files were taken over", { policies: policies.values().map(nameOf) });
      },
    });
  return {
    policies,
    cycles: createCycles<LivePolicy>(nameOf, systemTiming.elapsed),
    waker,
    identify: (presented) => identify(presented),
    shadow,
    states: () => statesOf(policies, relay, files),
    async stop() {
      await files?.stop();
      await shadow?.stop();
      await far?.stop();
      await relay?.stop();
      await waker?.idle();
    },
  };
}

function farRows(within: Parts & CallerOptions, { client, source, deadline }: Relay, wake?: () => void): FarRows {
  const { caches, metrics, log } = within;
  return startFarRows({
    client,
    deadline,
    sources: caches.sources,
    refresh: source.refresh,
    wake: wake ?? (() => undefined),
    // Nobody waits for a function that is only tried.
    metrics: wake ? metrics.relay : { ...metrics.relay, away: () => undefined },
    log,
  });
}

/** The policies in the shadow are those of another function, or further ones of the same binder. */
function startShadow(
  within: Parts & CallerOptions,
  policies: LivePolicies,
  { trial, shadows }: { readonly trial: Relay | undefined; readonly shadows: ReadonlyMap<string, string> },
): Shadow {
  const { core, metrics, log } = within;
  const far = trial && farRows(within, trial);
  const tried =
    trial && far
      ? livePolicies(new Map(), {
          state: core.state,
          now: Date.now,
          source: trial.source,
          sourced: trial.profiles,
          far: far.of,
        })
      : policies;
  for (const profile of shadows.values()) {
    if (!tried.has(profile)) log("error", "the profile that should be decided in the shadow is not there", { profile });
  }
  const of = (profile: string): LivePolicy | undefined => tried.get(shadows.get(profile) ?? "");
  const shadow = createShadow({ of, metrics: metrics.shadow, log, elapsed: systemTiming.elapsed });
  return {
    ...shadow,
    async stop() {
      await shadow.stop();
      await far?.stop();
      await trial?.stop();
    },
  };
}

function statesOf(
  policies: LivePolicies,
  relay: Relay | undefined,
  files: FollowedFiles | undefined,
): readonly PolicyState[] {
  const sourced = relay?.source.states() ?? [];
  const own = policies.values().filter(({ policy }) => relay?.profiles.includes(policy.profile) !== true);
  const problem = files?.problem();
  return [
    ...own.map(({ policy: { profile, version } }): PolicyState => {
      if (profile === GPUSHARE_PROFILE) return { profile, version, source: "built-in", failures: 0 };
      const failures = files?.failures() ?? 0;
      return { profile, version, source: "files", failures, ...(problem !== undefined && { problem }) };
    }),
    ...sourced.map((state): PolicyState => ({ ...state, source: "function" })),
  ];
}
