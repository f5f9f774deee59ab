import { connect } from "../../src/cluster/connection.ts";
import { startInformer } from "../../src/cluster/informer.ts";
import { PODS } from "../../src/cluster/resources.ts";
import { placedNode, placedPod } from "../../src/placement/placed.ts";
import { fleetLookup } from "../../src/policy/lookup.ts";
import { columnsOf } from "../../src/policy/policy.ts";
import { weightedSums } from "../../src/policy/rank.ts";
import { createCluster, type KnownNode } from "../../src/scheduler/cluster.ts";
import { createJudge } from "../../src/scheduler/judge.ts";
import { defaultPolicy } from "../../src/scheduler/policies.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { Node, Pod } from "../controlplane/objects.ts";
import { buildFullPod } from "../controlplane/pods.ts";
import { inParallel } from "./binder-targets.ts";

/** What pods ask for, in turns: ten kinds, as Deployments of ten services would bring them. */
const KINDS = [
  ["100m", "128Mi"],
  ["250m", "256Mi"],
  ["250m", "1Gi"],
  ["500m", "512Mi"],
  ["500m", "2Gi"],
  ["1", "1Gi"],
  ["1", "4Gi"],
  ["1500m", "2Gi"],
  ["2", "4Gi"],
  ["50m", "64Mi"],
] as const;

/** Creates pods that wait for a scheduler of this name. */
export async function createPods({ api }: ControlPlane, schedulerName: string, count: number): Promise<void> {
  const pods = Array.from({ length: count }, (_, index) => {
    const [cpu, memory] = KINDS[index % KINDS.length] ?? KINDS[0];
    return buildFullPod({
      name: `${schedulerName}-${index}`,
      schedulerName,
      cpu,
      memory,
      labels: { run: schedulerName },
    });
  });
  await inParallel(pods, 24, (pod) => api.create<Pod>(pod));
}

/** Takes the pods of a run away, and waits until they are gone. */
export async function removePods({ api }: ControlPlane, run: string): Promise<void> {
  const path = "/api/v1/namespaces/default/pods";
  const query = { labelSelector: `run=${run}` };
  await api.request({ method: "DELETE", path, query, body: { gracePeriodSeconds: 0 } });
}

/** A pod that was bound, in the order in which it was seen to be. */
export interface BoundPod {
  readonly pod: Pod;
  readonly node: string;
  /** Milliseconds of this process's clock. */
  readonly at: number;
}

/** Watches pods become bound. */
export interface Watcher {
  readonly bound: readonly BoundPod[];
  /** Settles when so many are bound. */
  reached(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Begins to watch the pods of a scheduler; everybody measured is watched in this way. */
export async function watchBound(plane: ControlPlane, schedulerName: string): Promise<Watcher> {
  const connection = await connect({ kubeconfig: await plane.kubeconfig("admin") });
  const fieldSelector = `spec.schedulerName=${schedulerName}`;
  const informer = startInformer({ connection, resource: PODS, fieldSelector, paths: ["metadata", "spec", "status"] });
  const bound: BoundPod[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  informer.subscribe({
    update(object, previous) {
      const [now, before] = [placedPod(object), placedPod(previous)];
      if (now.nodeName === "" || before.nodeName !== "") return;
      bound.push({ pod: previous as unknown as Pod, node: now.nodeName, at: performance.now() });
      for (const each of waiting) if (bound.length >= each.count) each.resolve();
    },
  });
  await informer.whenSynced;
  return {
    bound,
    reached: (count) =>
      new Promise((resolve) => {
        if (bound.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    async stop() {
      await informer.stop();
      await connection.close();
    },
  };
}

/**
 * The mean score of the nodes that were chosen, each as it was when its pod came: the pods are placed again, in the
 * order in which they were bound.
 */
export async function meanScore(nodes: readonly Node[], bound: readonly BoundPod[]): Promise<number> {
  const { policy, facts } = await defaultPolicy(false);
  const columns = columnsOf(policy);
  const cluster = createCluster(() => undefined);
  for (const node of nodes) cluster.putNode(placedNode(node, new Set()));
  const around = fleetLookup(facts);
  const judge = createJudge(policy, { around, now: Date.now, devices: () => ({ generation: 0, devices: {} }) });
  let sum = 0;
  for (const { pod, node } of bound) {
    const placed = placedPod(pod);
    const judged = judge(placed);
    const chosen = cluster.get(node) as KnownNode;
    if ("fault" in judged) throw new Error(judged.fault);
    const refusal = judged.refusal(chosen);
    if (refusal !== undefined) throw new Error(`${placed.name} does not fit on ${node}: ${refusal.reason}`);
    sum += weightedSums(columns, judged.scores([chosen]))[0] ?? 0;
    cluster.assume(placed, node);
  }
  return sum / bound.length;
}
