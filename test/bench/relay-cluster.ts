import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { buildNodes, createNodes } from "../controlplane/nodes.ts";
import { buildPod } from "../controlplane/pods.ts";
import { apiServerVersion } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { inParallel } from "./binder-targets.ts";
import { POOL } from "./scenario.ts";
import { usageOf } from "./usage.ts";

const TYPE = { apiVersion: "v1", kind: "Pod", namespace: "default" } as const;

/** Whether pods are made of a few templates, or each differs in what plugins read. */
export type Pods = "5 templates" | "all different";

/** One run of a kube-scheduler of its own. */
export interface RelayRun {
  readonly pods: Pods;
  readonly count: number;
  /** `percentageOfNodesToScore`; undefined is kube-scheduler's default. */
  readonly percentage?: number;
  readonly extenders: readonly JsonObject[];
  /** The extender's process. */
  readonly pid?: number;
}

/** What a run showed. */
export interface RelayFigure {
  readonly podsPerSecond: number;
  /** CPU of the extender's process per pod, in milliseconds. */
  readonly cpuMs: number;
}

/** Nodes of 13.5 KB in 20 classes, of which the filter keeps three quarters. */
export async function createRelayNodes(plane: ControlPlane, count: number): Promise<void> {
  const pools = ["general", "batch", "web", "retiring"];
  const nodes = buildNodes(count, { classes: 20 }).map((node, index) => ({
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, [POOL]: pools[index % 4] as string } },
  }));
  await createNodes(plane.api, nodes, { parallel: 24 });
}

/**
 * Creates the pods, starts kube-scheduler on them and takes the rate from the first tenth on: until then compilers and
 * connections are cold, for every rival alike.
 */
export async function measureRelay(plane: ControlPlane, run: RelayRun): Promise<RelayFigure> {
  const { count, extenders, percentage, pid } = run;
  await inParallel(
    Array.from({ length: count }, (_, index) => podOf(run.pods, index)),
    24,
    (pod) => plane.api.create(pod),
  );
  const cpu = async (): Promise<number> => (pid === undefined ? Number.NaN : (await usageOf(pid)).cpuMs);
  const scheduler = await startScheduler(plane, {
    version: apiServerVersion,
    verbosity: 0,
    config: {
      extenders: [...extenders],
      ...(percentage !== undefined && { percentageOfNodesToScore: percentage }),
    },
  });
  try {
    const started = { placed: 0, at: performance.now() };
    const warm = await reached(scheduler.metrics, count / 10);
    // So few pods that all are placed at once are for seeing that everything works.
    const first = warm.placed < count ? warm : started;
    const before = await cpu();
    const last = await reached(scheduler.metrics, count);
    const placed = last.placed - first.placed;
    return { podsPerSecond: placed / ((last.at - first.at) / 1000), cpuMs: ((await cpu()) - before) / placed };
  } finally {
    await scheduler.stop();
    await plane.api.removeAll(TYPE);
    await eventually("all pods are gone", async () => (await plane.api.list(TYPE)).length === 0, { within: 120_000 });
  }
}

function podOf(pods: Pods, index: number) {
  const kind = pods === "5 templates" ? index % 5 : index;
  return buildPod({
    name: `relay-${index}`,
    cpu: `${10 + kind}m`,
    memory: "32Mi",
    labels: { app: `app-${kind}`, "example.com/partner": kind % 2 === 0 ? "acquirer" : "carrier" },
  });
}

/** When so many pods have been placed, and how many they were at that moment. */
async function reached(
  metrics: () => Promise<string>,
  count: number,
): Promise<{ readonly placed: number; readonly at: number }> {
  return eventually(
    `${count} pods are placed`,
    async (saw) => {
      const placed = scheduled(await metrics());
      saw(placed);
      return placed >= count && { placed, at: performance.now() };
    },
    { within: 600_000, every: 100 },
  );
}

function scheduled(metrics: string): number {
  const lines = metrics.match(/^scheduler_schedule_attempts_total\{[^}]*result="scheduled"[^}]*\} .*$/gm) ?? [];
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
