import { systemTiming } from "../cluster/timing.ts";
import type { Log } from "../policy/log.ts";
import { type Policy, viewsOf } from "../policy/policy.ts";
import { registry } from "../policy/registry.ts";
import { nodeUsage } from "../policy/views/node-usage.ts";
import { createAsker } from "../remote/asker.ts";
import { createFunctionClient } from "../remote/client.ts";
import { createFar, type Far } from "../remote/far.ts";
import { startPolicySource } from "../remote/source.ts";
import type { FunctionSource } from "./options.ts";
import type { Loaded } from "./policies.ts";

/** A policy, and who is asked about the plugins of it that are not here. */
export interface Ruling extends Loaded {
  readonly far?: Far;
}

/** The policy in force, which may change while the scheduler runs. */
export interface Governing {
  /** Undefined while none has come. The same object for as long as the same version is in force. */
  current(): Ruling | undefined;
  /** Hears that pods may be judged otherwise from now on. */
  onChange(hear: () => void): void;
  /** What is wrong with where it comes from. */
  problems(): readonly string[];
  stop(): Promise<void>;
}

/** How long a pod waits for the function, in milliseconds. */
const DEADLINE = 1_000;

/** A policy that stays. */
export function fixed(loaded: Loaded): Governing {
  return {
    current: () => loaded,
    onChange: () => undefined,
    problems: () => [],
    stop: async () => undefined,
  };
}

/** The policy of a function: pulled, kept, and decided here; only plugins that are not here are asked about there. */
export async function governedByFunction(from: FunctionSource, log: Log): Promise<Governing> {
  const { profile, url, token, versionKey, caPem, keptIn, every } = from;
  const client = createFunctionClient({ url, token, versionKey, ...(caPem !== undefined && { caPem }) });
  const where = { client, profiles: [profile], plugins: registry, every, log, ...(keptIn !== undefined && { keptIn }) };
  const source = await startPolicySource({ ...where, unfit });
  const hearers = new Set<() => void>();
  const change = (): void => {
    for (const hear of hearers) hear();
  };
  const asker = createAsker({
    ...{ client, deadline: DEADLINE, otherVersion: source.refresh, back: change },
    away: () => log("warn", "the function does not answer and is not asked until it does"),
    metrics: { question: () => undefined },
    warn: (message, fields) => log("warn", message, fields),
    elapsed: systemTiming.elapsed,
  });
  const ruling = remembering(({ policy, facts }: Loaded): Ruling => {
    const metrics = { rows: () => undefined, waiting: () => undefined };
    const far = createFar({ policy, asker, metrics, rejected: () => undefined });
    return { policy, facts, ...(far && { far }) };
  });
  source.subscribe((_, now) => {
    log("info", "a policy is in force", { policy: `${profile}@${now.policy.version}`, away: now.away });
    change();
  });
  return {
    current() {
      const now = source.current(profile);
      return now && ruling(now);
    },
    onChange: (hear) => void hearers.add(hear),
    problems: () => (source.current(profile) ? [] : [`the function has given no policy ${profile} yet`]),
    async stop() {
      asker.stop();
      await source.stop();
      await client.close();
    },
  };
}

function remembering<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** The first view that a policy reads and that nobody here can tell. */
function unfit(policy: Policy): string | undefined {
  const view = viewsOf(policy).find(({ read, name }) => read === undefined && name !== nodeUsage.name);
  return view && `it reads ${view.name}, which this scheduler does not watch`;
}
