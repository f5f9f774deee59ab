import { hostname } from "node:os";
import type { Connection } from "../cluster/connection.ts";
import { type EventRecorder, startEventRecorder } from "../cluster/events.ts";
import type { Log } from "../extender/log.ts";
import type { Caches } from "./caches.ts";
import type { Core } from "./core.ts";
import { type Leadership, startLeadership } from "./leadership.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { PolicyState } from "./policy-metrics.ts";
import type { BinderSettings } from "./settings.ts";

/** What runs behind the server. */
export interface Parts {
  readonly connection: Connection;
  readonly caches: Caches;
  readonly core: Core;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly leadership: Leadership;
  synced(): boolean;
  /** Set while stopping. */
  stopping: boolean;
}

/** Starts what runs behind the server. */
export function startParts(
  options: Omit<BinderSettings, "source"> & { readonly log: Log },
  base: { readonly connection: Connection; readonly caches: Caches; readonly core: Core },
  policies: () => readonly PolicyState[],
): Parts {
  const { log } = options;
  const { connection, caches, core } = base;
  const identity = `${hostname()}_${crypto.randomUUID()}`;
  let synced = false;
  const isSynced = () => synced;
  void caches.whenSynced.then(() => {
    synced = true;
    log("info", "the whole cluster has been read", { nodes: caches.states().find(isNodes)?.objects ?? 0 });
  });
  const events = startEventRecorder({ connection, controller: "berth.dev/binder", instance: identity, warn });
  function warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    log("warn", message, fields);
  }
  let leadership: Leadership | undefined;
  const metrics = createMetrics({
    claims: () => claimsHeld(core),
    informers: caches.states,
    eventFailures: () => events.state().failed,
    leader: () => leadership?.election.isLeader() === true,
    ready: isSynced,
    policies,
  });
  leadership = startLeadership({
    connection,
    core,
    namespace: options.leaseNamespace ?? connection.namespace ?? "default",
    identity,
    ...(options.graceTime !== undefined && { graceTime: options.graceTime }),
    ready: isSynced,
    record: events.record,
    metrics,
    log,
  });
  return { ...base, events, metrics, leadership, synced: isSynced, stopping: false };
}

function isNodes({ resource }: { readonly resource: string }): boolean {
  return resource === "nodes";
}

function claimsHeld({ state }: Core): number {
  let held = 0;
  for (const { name } of state.nodes.values()) held += state.ledger(name)?.claims.length ?? 0;
  return held;
}

/** In the order that loses nothing, once no work comes any more: duties, then the last events, then the connection. */
export async function stopAll(parts: Parts): Promise<void> {
  await parts.leadership.stop();
  await parts.events.stop();
  await parts.caches.stop();
  await parts.connection.close();
}
