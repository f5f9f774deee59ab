import type { Parts } from "./parts.ts";
import type { PolicyState } from "./policy-metrics.ts";
import type { Condition } from "./server.ts";

/** The loop over the ledgers runs every few seconds; after so many milliseconds without an end it is stuck. */
const STUCK_MS = 120_000;

/** What the probes are told. */
export function conditions(
  parts: Parts,
  policies: () => readonly PolicyState[],
): { ready(): Condition; alive(): Condition } {
  const facts = () => ({
    leader: parts.leadership.election.isLeader(),
    caches: parts.caches.states(),
    events: parts.events.state(),
    policies: policies(),
  });
  return {
    ready: () => {
      const missing = parts.caches.states().filter(({ synced }) => !synced);
      const problems = missing.map(
        ({ resource, problem }) => `${resource}: not read yet${problem ? `: ${problem}` : ""}`,
      );
      problems.push(...leaseProblems(parts), ...policyProblems(policies()));
      if (parts.stopping) problems.push("stopping");
      return { problems, facts: facts() };
    },
    alive: () => {
      const idle = parts.leadership.housekeeping.idleFor(parts.core.protocol.context.clock.elapsed());
      const problems =
        idle > STUCK_MS ? [`the loop over the ledgers has not ended for ${Math.round(idle / 1000)} s`] : [];
      return { problems, facts: facts() };
    },
  };
}

/**
 * Who may not write the Lease will never lead, and who holds it and cannot renew it has stepped down by now: nobody
 * would see that from the answers alone. One renewal that failed is no problem yet, and waiting in line is none at all.
 */
function leaseProblems({ leadership }: Pick<Parts, "leadership">): string[] {
  const { leader, problem } = leadership.election.state();
  return leader || problem === undefined ? [] : [`the Lease cannot be had: ${problem}`];
}

/**
 * A policy that is old is better than none and no problem here: metrics tell of it. Without any, this replica must not
 * take the place of one that has one.
 */
function policyProblems(policies: readonly PolicyState[]): string[] {
  return policies.flatMap(({ profile, version, problem }) =>
    version === undefined ? [`profile ${profile} has no policy yet${problem ? `: ${problem}` : ""}`] : [],
  );
}
