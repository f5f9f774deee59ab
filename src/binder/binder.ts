import { type Listener, type ListenerEnv, listen, listenerPour, type TlsFiles } from "../adapters/listener.ts";
import { connect } from "../cluster/connection.ts";
import { systemTiming } from "../cluster/timing.ts";
import { createApp } from "../extender/app.ts";
import type { Log } from "../extender/log.ts";
import { createAttempts } from "./attempts.ts";
import { startCaches } from "./caches.ts";
import { conditions } from "./conditions.ts";
import { createCore } from "./core.ts";
import { type Governing, govern, readGiven, type Sourced } from "./governing.ts";
import { livePaths } from "./live.ts";
import type { ReadDocuments } from "./own-policies.ts";
import { type Parts, startParts, stopAll } from "./parts.ts";
import { startRelay } from "./relay.ts";
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
  /** berth.yaml and facts.json; absent: nothing but the function's profiles and the built-in one of gpushare. */
  readonly files?: ReadDocuments;
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
  const given = await readGiven(options.files, options);
  const connection = await connect(options.source);
  const { relay, trial } = await startRelays(options).catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  const own = [...given.own.profiles.values()].map(({ policy }) => policy);
  const caches = startCaches(connection, livePaths(own), log);
  const core = createCore(connection, caches.sources, log);
  let governing: Governing | undefined;
  const policies = () => governing?.states() ?? [];
  const parts = startParts(options, { connection, caches, core }, policies);
  governing = govern(given, { relay, trial, shadows: options.shadow?.profiles }, { ...options, ...parts });
  const { identify, shadow } = governing;
  const extender = extenderOf(options, parts, governing);
  const { metrics } = parts;
  const app = createServer({
    extender,
    identify,
    state: core.state,
    metrics,
    shadow,
    ...conditions(parts, policies),
  });
  const stop = async (listener?: Listener): Promise<void> => {
    parts.stopping = true;
    await listener?.stop();
    await governing.stop();
    await stopAll(parts);
  };
  try {
    const listener = await listen({ ...options, app });
    return { url: listener.url, stop: () => stop(listener) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** All or none: a relay that has begun would keep the process alive. */
async function startRelays({ function: from, shadow, log }: BinderOptions): Promise<Pick<Sourced, "relay" | "trial">> {
  const relay = from && (await startRelay(from, log));
  try {
    return { relay, trial: shadow?.function && (await startRelay(shadow.function, log)) };
  } catch (error) {
    await relay?.stop();
    throw error;
  }
}

function extenderOf({ log, bodyLimit }: BinderOptions, parts: Parts, governing: Governing) {
  const { policies, cycles, waker, identify, shadow } = governing;
  const verbs = {
    policies,
    cycles,
    answered: waker.answered,
    shadow,
    binding: {
      state: parts.core.state,
      protocol: parts.core.protocol,
      attempts: createAttempts(),
      record: parts.events.record,
    },
    unready: () => (parts.synced() ? undefined : UNREADY),
    metrics: parts.metrics,
    elapsed: systemTiming.elapsed,
  };
  return createApp({
    deciders: liveDeciders(verbs),
    cluster: clusterVerbs(verbs),
    identify,
    peer: (_, env) => (env as ListenerEnv).peer,
    pour: listenerPour,
    now: Date.now,
    log,
    bodyLimit,
  });
}
