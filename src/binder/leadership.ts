import type { Connection } from "../cluster/connection.ts";
import type { EventDraft } from "../cluster/event-object.ts";
import { type Election, startElection } from "../cluster/lease.ts";
import { patchObject } from "../cluster/patch.ts";
import { NODES } from "../cluster/resources.ts";
import type { Log } from "../extender/log.ts";
import { createCleaner, GRACE_TIME } from "../placement/cleaner.ts";
import { ensureLedger } from "../placement/lanes.ts";
import type { PlacedNode } from "../placement/model.ts";
import type { Core } from "./core.ts";
import { type Housekeeping, startHousekeeping } from "./housekeeping.ts";
import type { Metrics } from "./metrics.ts";
import { followUnplaced } from "./unplaced.ts";
import { createWaker, WAKE_ANNOTATION, type WakingOptions } from "./waking.ts";

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

/** What one of all binders does: taking claims away, waking pods, warning of pods without a device. */
export interface Leadership {
  readonly election: Election;
  readonly housekeeping: Housekeeping;
  stop(): Promise<void>;
}

/** Competes for the Lease for as long as the program runs. */
export function startLeadership(options: LeadershipOptions): Leadership {
  const { connection, core, namespace, identity, graceTime = GRACE_TIME, ready, log } = options;
  const { state, protocol } = core;
  let election: Election | undefined;
  const isLeader = () => ready() && election?.isLeader() === true;
  const unplaced = followUnplaced(state.pods, { isLeader, record: options.record });
  const waker = createWaker({ state, isLeader, touch: toucher(connection), log });
  const { context, lanes } = protocol;
  const openLedger = (node: PlacedNode) => ensureLedger(lanes, node);
  state.nodes.onDevices((node, healed) => {
    if (isLeader()) void openLedger(node);
    if (healed) waker.freed([node.name]);
  });
  const housekeeping = startHousekeeping(
    {
      state,
      cleaner: createCleaner({ context, lanes, seen: state.pods.byUid, graceTime }),
      openLedger,
      isLeader,
      freed: waker.freed,
      metrics: options.metrics,
      log,
      every: Math.min(5_000, graceTime / 4),
      afterRound: unplaced.warn,
    },
    context.clock.elapsed,
  );
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
    housekeeping,
    async stop() {
      waker.stop();
      await housekeeping.stop();
      await stepDown();
    },
  };
}

function toucher(connection: Connection): WakingOptions["touch"] {
  return async (name) => {
    const patch = { metadata: { annotations: { [WAKE_ANNOTATION]: new Date().toISOString() } } };
    const answer = await patchObject(connection, { resource: NODES, name, patch, statusOnly: true });
    return answer.kind === "ok" ? undefined : answer.message;
  };
}
