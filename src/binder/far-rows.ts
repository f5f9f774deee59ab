import { systemTiming } from "../cluster/timing.ts";
import type { Log } from "../extender/log.ts";
import type { Policy } from "../policy/policy.ts";
import { createAhead } from "../remote/ahead.ts";
import { createAsker } from "../remote/asker.ts";
import type { FunctionClient } from "../remote/client.ts";
import { createFar, type Far } from "../remote/far.ts";
import type { RelayMetrics } from "./far-metrics.ts";
import type { Sources } from "./objects.ts";

/** Rows of plugins that only the function has, for all its profiles. */
export interface FarRows {
  /** For one version of a policy; undefined when every plugin of it is here. */
  of(policy: Policy): Far | undefined;
  /** Why the function is not asked now, a sentence; undefined while it is. */
  problem(): string | undefined;
  stop(): void;
}

/** What they need. */
export interface FarRowsOptions {
  readonly client: Pick<FunctionClient, "ask">;
  /** How long kube-scheduler may be kept waiting for the function, in milliseconds; well below its `httpTimeout`. */
  readonly deadline: number;
  readonly sources: Pick<Sources, "pods" | "nodes">;
  /** The function decides by another version of a profile: its policy should be pulled now. */
  refresh(profile: string): void;
  /** Pods that were kept waiting could be decided now. */
  wake(): void;
  readonly metrics: RelayMetrics;
  readonly log: Log;
}

/**
 * While a function is rolled out, its replicas answer with two versions by turns: whichever is in force finds its rows
 * again. Each version has a memory of its own, so these are few.
 */
const VERSIONS_KEPT = 2;

/** Begins to ask the function, and to ask ahead for pods as they appear. */
export function startFarRows({ metrics, log, sources, ...options }: FarRowsOptions): FarRows {
  /** Of each profile, the newest first. */
  const versions = new Map<string, readonly Version[]>();
  const askAboutAll = startAhead(versions, sources);
  let rejected = false;
  let missed = false;
  const keepsWaiting = (): void => {
    rejected = true;
  };
  const asker = createAsker({
    client: options.client,
    deadline: options.deadline,
    otherVersion: options.refresh,
    back: () => {
      log("info", "the function answers again");
      metrics.away(false);
      // Only then does somebody wait whom no event of the cluster would wake.
      if (rejected) options.wake();
      rejected = false;
      // Pods that appeared meanwhile would each wait for a question of its own when its turn comes.
      if (missed) askAboutAll();
      missed = false;
    },
    away: () => {
      missed = true;
      log("warn", "the function does not answer and is not asked until it does");
      metrics.away(true);
    },
    metrics,
    warn: (message, fields) => log("warn", message, fields),
    elapsed: systemTiming.elapsed,
  });
  return {
    of(policy) {
      const { profile, version } = policy;
      const before = versions.get(profile) ?? [];
      const known = before.find((each) => each.version === version)?.far;
      const far = known ?? createFar({ policy, asker, metrics, rejected: keepsWaiting });
      if (far === undefined) {
        versions.delete(profile);
        return undefined;
      }
      const others = before.filter((each) => each.version !== version);
      versions.set(profile, [{ version, far }, ...others].slice(0, VERSIONS_KEPT));
      return tellingFirstUse(far, askAboutAll);
    },
    problem: () => (asker.isAway() ? "the function does not answer" : undefined),
    stop: asker.stop,
  };
}

/** Asks ahead for pods as they appear. Gives what asks about all that wait. */
function startAhead(versions: ReadonlyMap<string, readonly Version[]>, sources: FarRowsOptions["sources"]): () => void {
  const ahead = createAhead({
    fars: () => [...versions.values()].flatMap(([now]) => (now?.far.isUsed() ? [now.far] : [])),
    nodes: () => sources.nodes.values(),
    elapsed: systemTiming.elapsed,
  });
  sources.pods.subscribe({ add: ahead.pod });
  // After the decision at hand, or the others' questions would go first.
  return () => void setImmediate(() => [...sources.pods.values()].forEach(ahead.pod));
}

interface Version {
  readonly version: string;
  readonly far: Far;
}

/** Pods that were there before a policy was used at all are asked ahead from then on. */
function tellingFirstUse(far: Far, firstUsed: () => void): Far {
  return {
    ...far,
    withRows: (pod, nodes) => {
      if (!far.isUsed()) firstUsed();
      return far.withRows(pod, nodes);
    },
  };
}
