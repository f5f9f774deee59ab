import { type EventRecorder, startEventRecorder } from "../cluster/events.ts";
import { type Election, startElection } from "../cluster/lease.ts";
import type { Core } from "./core.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { InformerModeOptions } from "./options.ts";
import type { Condition } from "./server.ts";

/** Who leads, what is told, what is counted. */
export interface Parts {
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly election: Election;
  /** True while this process holds the Lease, has read the whole cluster, and is not stopping. */
  isLeading(): boolean;
  /** From now on nothing new is begun. */
  stopping(): void;
  isStopping(): boolean;
}

/** A new pod's event must not be lost because thousands were bound in the same minute. */
const EVENTS_QUEUED = 100_000;

/** Nor because the API server was away for a minute: this event is all that people see of a pod's placement. */
const EVENT_TRIES = 20;

/** Competes for the Lease and begins to record. */
export function startParts(options: InformerModeOptions, core: Core, identity: string): Parts {
  const { log, schedulerName } = options;
  const { connection, caches, queue, bell } = core;
  const state = { synced: false, stopping: false };
  const warn = (message: string, fields?: Readonly<Record<string, unknown>>) => log("warn", message, fields);
  const reporter = { controller: schedulerName, instance: identity };
  const events = startEventRecorder({ connection, warn, ...reporter, queueLimit: EVENTS_QUEUED, tries: EVENT_TRIES });
  const election = startElection({
    ...{ connection, identity, warn },
    namespace: options.leaseNamespace ?? connection.namespace ?? "default",
    name: schedulerName,
    onStarted: () => {
      log("info", "leading", { identity });
      bell.ring();
    },
    onStopped: () => log("warn", "not leading any more", { identity }),
  });
  void caches.whenSynced.then(() => {
    state.synced = true;
    log("info", "the whole cluster has been read", { nodes: core.cluster.nodes().length });
    bell.ring();
  });
  const metrics = createMetrics({
    queue: queue.sizes,
    informers: caches.states,
    eventFailures: () => events.state().failed,
    leader: election.isLeader,
    ready: () => state.synced,
  });
  return {
    ...{ metrics, events, election },
    isLeading: () => state.synced && !state.stopping && election.isLeader(),
    stopping: () => {
      state.stopping = true;
    },
    isStopping: () => state.stopping,
  };
}

/**
 * What the probes are told.
 *
 * @param stuck what shows that this process makes no progress
 */
export function conditions(
  { caches, governing }: Pick<Core, "caches" | "governing">,
  parts: Pick<Parts, "election" | "events" | "isStopping">,
  stuck: () => readonly string[],
): { ready(): Condition; alive(): Condition } {
  const facts = () => ({
    leader: parts.election.isLeader(),
    caches: caches.states(),
    events: parts.events.state(),
  });
  return {
    ready: () => {
      const missing = caches.states().filter(({ synced }) => !synced);
      const problems = missing.map(
        ({ resource, problem }) => `${resource}: not read yet${problem ? `: ${problem}` : ""}`,
      );
      problems.push(...governing.problems());
      const { leader, problem } = parts.election.state();
      if (!leader && problem !== undefined) problems.push(`the Lease cannot be had: ${problem}`);
      if (parts.isStopping()) problems.push("stopping");
      return { problems, facts: facts() };
    },
    alive: () => ({ problems: stuck(), facts: facts() }),
  };
}
