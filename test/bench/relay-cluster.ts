import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { buildNodes, createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { apiServerVersion } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { inParallel } from "./binder-targets.ts";
import { watchBound } from "./bound.ts";
import { removePods } from "./pods-gone.ts";
import { POOL } from "./scenario.ts";

const ZONE = "topology.kubernetes.io/zone";

/** Of the zones of the nodes, the one that examples/custom-plugin knows no distance to. */
const UNKNOWN_ZONE = "eu-central-1c";

/** Whether pods are made of a few templates, or each differs in what plugins read. */
export type Pods = "5 templates" | "all different";

/** One run of a kube-scheduler of its own. */
export interface RelayRun {
  readonly pods: Pods;
  /** Pods that are placed first and do not count; the same kind of pods. */
  readonly warmUp: number;
  /** Pods that count. */
  readonly count: number;
  /** `percentageOfNodesToScore`; undefined is kube-scheduler's default. */
  readonly percentage?: number;
  readonly extenders: readonly JsonObject[];
}

/**
 * Nodes of 13.5 KB in 20 classes, of which the filter keeps three quarters. NearPartner refuses none of them: who refuses
 * nodes spares kube-scheduler their scores, and would seem the faster.
 */
export async function createRelayNodes(plane: ControlPlane, count: number): Promise<void> {
  const pools = ["general", "batch", "web", "retiring"];
  const nodes = buildNodes(count, { classes: 20 }).map((node, index) => {
    const { labels = {} } = node.metadata;
    const known = labels[ZONE] === UNKNOWN_ZONE && { [ZONE]: "eu-north-1a" };
    return {
      ...node,
      metadata: { ...node.metadata, labels: { ...labels, ...known, [POOL]: pools[index % 4] as string } },
    };
  });
  await createNodes(plane.api, nodes, { parallel: 24 });
}

/**
 * Creates the pods and starts kube-scheduler on them. It counts what is placed from the last pod of the warm-up on: until
 * then compilers, caches and connections are cold, for every rival alike.
 *
 * @returns pods per second
 * @throws {Error} when kube-scheduler places no more of them
 */
export async function measureRelay(plane: ControlPlane, run: RelayRun): Promise<number> {
  const { warmUp, count, extenders, percentage } = run;
  const pods = Array.from({ length: warmUp + count }, (_, index) => podOf(run.pods, index));
  await inParallel(pods, 24, (pod) => plane.api.create(pod));
  const bound = await watchBound(plane);
  try {
    const scheduler = await startScheduler(plane, {
      version: apiServerVersion,
      verbosity: 0,
      config: {
        extenders: [...extenders],
        ...(percentage !== undefined && { percentageOfNodesToScore: percentage }),
      },
    });
    try {
      await bound.reached(warmUp + count);
      const [first = Number.NaN, last = Number.NaN] = [bound.at[warmUp - 1], bound.at[warmUp + count - 1]];
      return (count * 1000) / (last - first);
    } finally {
      await scheduler.stop();
    }
  } finally {
    bound.stop();
    await removePods(plane.api);
  }
}

/** The pod of this index: of one of five templates, or like no other in what plugins read. */
export function podOf(pods: Pods, index: number): Pod {
  const kind = pods === "5 templates" ? index % 5 : index;
  return buildPod({
    name: `relay-${index}`,
    // However many they are, the nodes have room for them, and no two of all that differ ask for the same.
    cpu: `${10 + (kind % 200)}m`,
    memory: `${32 * 1024 + kind}Ki`,
    labels: { app: `app-${kind}`, "example.com/partner": kind % 2 === 0 ? "acquirer" : "carrier" },
  });
}
