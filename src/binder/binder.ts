import { type Listener, type ListenerEnv, listen, type TlsFiles } from "../adapters/listener.ts";
import { connect } from "../cluster/connection.ts";
import { systemTiming } from "../cluster/timing.ts";
import { createApp } from "../extender/app.ts";
import { prepareCallers } from "../extender/callers.ts";
import type { Log } from "../extender/log.ts";
import { startCaches } from "./caches.ts";
import { conditions } from "./conditions.ts";
import { createCore } from "./core.ts";
import { livePaths } from "./live.ts";
import { startParts, stopAll } from "./parts.ts";
import { binderPolicies, livePolicies, type PolicyDocuments } from "./policies.ts";
import { createServer } from "./server.ts";
import type { BinderSettings } from "./settings.ts";
import { clusterVerbs, liveDeciders } from "./verbs.ts";

/** Where and for whom the binder listens, and what it decides by. */
export interface BinderOptions extends BinderSettings {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsFiles;
  readonly openOnLoopback: boolean;
  readonly bodyLimit: number;
  readonly secret: (name: string) => string | undefined;
  /** Absent: nothing but the built-in profile of gpushare. */
  readonly documents?: PolicyDocuments;
  readonly log: Log;
}

/** A binder that answers. */
export interface RunningBinder {
  readonly url: string;
  /** Lets requests in flight finish, gives the Lease back, sends the last events. */
  stop(): Promise<void>;
}

/** Nobody can be answered before: constant, for it becomes part of pods' events. */
const UNREADY = "The binder has not read the whole cluster yet";

/** Starts the binder. Rejects with a sentence for people when a credential, a file or the port is not usable. */
export async function startBinder(options: BinderOptions): Promise<RunningBinder> {
  const { log } = options;
  const policies = await binderPolicies(options.documents);
  const identify = await prepareCallers(policies.callers, options);
  const connection = await connect(options.source);
  const caches = startCaches(connection, livePaths([...policies.profiles.values()].map(({ policy }) => policy)), log);
  const core = createCore(connection, caches.sources, log);
  const parts = startParts(options, { connection, caches, core });
  const verbs = {
    policies: livePolicies(policies, { state: core.state, now: Date.now }),
    binding: { state: core.state, protocol: core.protocol, record: parts.events.record },
    unready: () => (parts.synced() ? undefined : UNREADY),
    metrics: parts.metrics,
    elapsed: systemTiming.elapsed,
  };
  const extender = createApp({
    deciders: liveDeciders(verbs),
    cluster: clusterVerbs(verbs),
    identify,
    peer: (_, env) => (env as ListenerEnv).peer,
    chunks: (_, env) => (env as ListenerEnv).incoming.iterator({ destroyOnReturn: false }),
    now: Date.now,
    log,
    bodyLimit: options.bodyLimit,
  });
  const app = createServer({ extender, identify, state: core.state, metrics: parts.metrics, ...conditions(parts) });
  const stop = (listener?: Listener) => stopAll(parts, listener);
  try {
    const listener = await listen({ ...options, app });
    return { url: listener.url, stop: () => stop(listener) };
  } catch (error) {
    await stop();
    throw error;
  }
}
