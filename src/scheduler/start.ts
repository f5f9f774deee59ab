import { hostname } from "node:os";
import { systemTiming } from "../cluster/timing.ts";
import type { Log } from "../policy/log.ts";
import { startCleaning } from "./cleaning.ts";
import { conditionWriter } from "./condition.ts";
import { type Core, startCore } from "./core.ts";
import { startExpiry } from "./expiry.ts";
import { type FollowOptions, follow } from "./follow.ts";
import { createLateBindings } from "./late.ts";
import { startLoop } from "./loop.ts";
import { followOpenings } from "./openings.ts";
import type { InformerModeOptions, RunningScheduler } from "./options.ts";
import { conditions, type Parts, startParts } from "./parts.ts";
import { startServer } from "./server.ts";

/** Pods that wait for a change are tried again at least so often, in milliseconds, whatever was missed. */
const FLUSH_EVERY = 30_000;

/** A round over the ledgers that is under way is waited for so long in the end, in milliseconds. */
const LEAVE_AFTER = 3_000;

/** The loop over the ledgers runs every few seconds; after so many milliseconds without an end it is stuck. */
const STUCK = 120_000;

/**
 * Starts the scheduler in informer mode. Rejects with a sentence for people when a credential, the cluster or the port
 * is not usable.
 */
export async function startScheduler(options: InformerModeOptions): Promise<RunningScheduler> {
  const identity = `${hostname()}_${crypto.randomUUID()}`;
  const core = await startCore(options, identity);
  const parts = startParts(options, core, identity);
  const { stop, stuck } = startWork(options, core, { ...parts, identity });
  try {
    const probes = conditions(core, parts, stuck);
    const server = await startServer({ ...options.listen, metrics: parts.metrics, ...probes });
    return {
      url: server.url,
      async stop() {
        await stop();
        await server.stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Begins to place pods; gives what ends that, in the order that loses nothing, and what shows that it is stuck. */
function startWork(
  { schedulerName, log }: InformerModeOptions,
  core: Core,
  parts: Parts & { readonly identity: string },
): { stop(): Promise<void>; stuck(): readonly string[] } {
  const { connection, caches, queue } = core;
  const late = createLateBindings(parts.identity, parts.events.record);
  const duties = startDuties(core, { isLeading: parts.isLeading, schedulerName, log, seen: late.shown });
  const loop = startLoop({
    ...core,
    ...{ metrics: parts.metrics, log, late, record: parts.events.record },
    ...{ mayPlace: parts.isLeading, elapsed: systemTiming.elapsed },
    tellCondition: conditionWriter(connection, Date.now),
  });
  const stop = async (): Promise<void> => {
    parts.stopping();
    await loop.stop();
    // Its calls end with the connection, if not before.
    await Promise.race([duties.stop(), pauseFor(LEAVE_AFTER)]);
    await parts.election.stop();
    await parts.events.stop();
    queue.stop();
    await core.governing.stop();
    await caches.stop();
    await connection.close();
  };
  return { stop, stuck: () => [...loop.problems(), ...duties.problems()] };
}

function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

/** What goes on beside placing pods. */
function startDuties(
  core: Core,
  {
    isLeading,
    schedulerName,
    log,
    seen,
  }: Pick<FollowOptions, "schedulerName" | "seen"> & {
    isLeading(): boolean;
    readonly log: Log;
  },
) {
  const { caches, cluster, queue, ledgers, protocol } = core;
  const cleaning =
    caches.sources.ledgers &&
    startCleaning({
      ...{ cluster, ledgers, isLeading, log, context: protocol.context, lanes: protocol.lanes },
      freed: queue.wake,
      seen: (uid) => cluster.podOn(uid)?.pod,
    });
  follow(caches.sources, {
    ...{ cluster, queue, schedulerName, seen, nodeGone: protocol.lanes.forget },
    deviceFreed: (node) => cleaning?.ended(node),
  });
  core.governing.onChange(queue.wake);
  const expiry = startExpiry(core, schedulerName);
  const flush = setInterval(queue.wake, FLUSH_EVERY);
  const openings = caches.sources.ledgers && followOpenings(caches.sources.ledgers, systemTiming, queue.wake);
  return {
    problems(): readonly string[] {
      const idle = cleaning?.idleFor() ?? 0;
      return idle > STUCK ? [`the loop over the ledgers has not ended for ${Math.round(idle / 1000)} s`] : [];
    },
    async stop(): Promise<void> {
      clearInterval(flush);
      openings?.stop();
      expiry.stop();
      await cleaning?.stop();
    },
  };
}
