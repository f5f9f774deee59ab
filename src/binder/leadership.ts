import type { Connection } from "../cluster/connection.ts";
import type { EventDraft } from "../cluster/event-object.ts";
import { type Election, startElection } from "../cluster/lease.ts";
import type { Log } from "../extender/log.ts";
import { createCleaner, GRACE_TIME } from "../placement/cleaner.ts";
import { ensureLedger } from "../placement/lanes.ts";
import type { PlacedNode } from "../placement/model.ts";
import type { Core } from "./core.ts";
import { type Housekeeping, startHousekeeping } from "./housekeeping.ts";
import type { Metrics } from "./metrics.ts";
import { publisherOn, toucher } from "./node-writes.ts";
import { startPublishing } from "./publishing.ts";
import { lookAroundAfterTakeover } from "./takeover.ts";
import { followUnplaced } from "./unplaced.ts";
import { createWaker, type Waker } from "./waking.ts";

/** The name of the Lease. */
export const LEASE = "berth-binder";

/** What the leader's duties need. */
export interface LeadershipOptions {
  readonly connection: Connection;
  readonly core: Core;
  readonly namespace: string;
  readonly identity: string;
  /** In milliseconds; 30 seconds when absent. */
  readonly graceTime?: number;
  /** True once everything has been read: nothing is cleaned by half of a picture. */
  ready(): boolean;
  record(event: EventDraft): void;
  readonly metrics: Pick<Metrics, "claimsTaken">;
  readonly log: Log;
}

/** What one of all binders does: it takes claims away, publishes devices, wakes pods, warns of pods without a device. */
export interface Leadership {
  readonly election: Election;
  readonly housekeeping: Housekeeping;
  readonly waker: Pick<Waker, "wake">;
  stop(): Promise<void>;
}

/** Competes for the Lease for as long as the program runs. */
export function startLeadership(options: LeadershipOptions): Leadership {
  const { connection, namespace, identity, log } = options;
  let election: Election | undefined;
  const duties = startDuties(options, () => options.ready() && election?.isLeader() === true);
  election = startElection({
    connection,
    namespace,
    name: LEASE,
    identity,
    onStarted: () => log("info", "leading", { identity }),
    onStopped: () => log("warn", "not leading any more", { identity }),
    warn: (message, fields) => log("warn", message, fields),
  });
  const { stop: stepDown } = election;
  return {
    election,
    housekeeping: duties.housekeeping,
    waker: duties.waker,
    async stop() {
      await duties.stop();
      await stepDown();
    },
  };
}

/** Starts what only the leader does; each part asks by itself whether this is one. */
function startDuties(
  { connection, core, graceTime = GRACE_TIME, ...options }: LeadershipOptions,
  isLeader: () => boolean,
) {
  const { state, protocol } = core;
  const { context, lanes } = protocol;
  const { record, metrics, log } = options;
  const unplaced = followUnplaced(state.pods, { isLeader, record });
  const waker = createWaker({ state, isLeader, touch: toucher(connection), log });
  const publisher = startPublishing({ state, isLeader, publish: publisherOn(connection), log });
  const openLedger = (node: PlacedNode) => ensureLedger(lanes, node);
  state.nodes.onDevices((node, healed) => {
    if (isLeader()) void openLedger(node);
    if (healed) waker.freed([node.name]);
  });
  // kube-scheduler was told that the node is not known, and nothing it hears of says that it is now.
  state.nodes.onLate(waker.wake);
  // Or that nobody could be evicted there.
  state.pods.onLate(({ nodeName }) => waker.wake(nodeName));
  const cleaner = createCleaner({ context, lanes, seen: state.pods.byUid, graceTime });
  const withDevices = () => [...state.nodes.values()].filter(({ devices }) => devices.length > 0);
  const lookAround = lookAroundAfterTakeover({
    isLeader,
    names: () => withDevices().map(({ name }) => name),
    freed: waker.freed,
  });
  const afterRound = (): void => {
    lookAround();
    unplaced.warn();
    publisher.review();
  };
  const housekeeping = startHousekeeping(
    {
      state,
      cleaner,
      openLedger,
      isLeader,
      freed: waker.freed,
      afterRound,
      metrics,
      log,
      every: Math.min(5_000, graceTime / 4),
    },
    context.clock.elapsed,
  );
  const stop = async (): Promise<void> => {
    waker.stop();
    publisher.stop();
    await housekeeping.stop();
  };
  return { housekeeping, waker, stop };
}
