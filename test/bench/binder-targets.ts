import type { ControlPlane } from "../controlplane/controlplane.ts";
import { buildNode, createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { createGpuNodes, gpuPod } from "../e2e/binder.ts";

/** What is bound: pods that ask for nothing special, or pods that ask for device memory. */
export type Kind = "plain" | "device";

/** A pod to bind, and where. */
export interface Target {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly node: string;
}

/** Device memory of one card, and what one pod asks of it: sixteen pods fill the eight cards of a node. */
export const MEMORY = { card: 80, pod: 40 } as const;

const CARDS = 8;
const PODS_PER_NODE = (CARDS * MEMORY.card) / MEMORY.pod;

/** Creates unbound pods and the nodes they fit on to the last one, each run with nodes of its own. */
export async function createTargets(
  { api, ...plane }: ControlPlane,
  { kind, run, count }: { readonly kind: Kind; readonly run: string; readonly count: number },
): Promise<Target[]> {
  const names = Array.from({ length: Math.ceil(count / PODS_PER_NODE) }, (_, index) => `${run}-node-${index}`);
  if (kind === "device") await createGpuNodes({ api, ...plane }, names, { count: CARDS, each: MEMORY.card });
  // Nodes without devices: the binder would tell of new devices on each node, once, in the midst of a run.
  else
    await createNodes(
      api,
      names.map((name) => buildNode({ name, images: 2 })),
    );
  const pods = Array.from({ length: count }, (_, index) => {
    const name = `${run}-${index}`;
    const labels = { run };
    return kind === "device" ? gpuPod(name, MEMORY.pod, { labels }) : buildPod({ name, cpu: "100m", labels });
  });
  return inParallel(pods, 24, async (pod, index) => {
    const { metadata } = await api.create<Pod>(pod);
    const { name, namespace = "", uid = "", resourceVersion = "" } = metadata;
    return { kind, namespace, name, uid, resourceVersion, node: names[index % names.length] ?? "" };
  });
}

/** @throws {Error} when one of a run's pods is not on its node: the rates would say nothing */
export async function checkBound({ api }: ControlPlane, run: string, targets: readonly Target[]): Promise<void> {
  const pods = await api.list<Pod>({
    apiVersion: "v1",
    kind: "Pod",
    namespace: "default",
    labelSelector: `run=${run}`,
  });
  const nodes = new Map(pods.map(({ metadata, spec }) => [metadata.uid, spec.nodeName]));
  const wrong = targets.filter(({ uid, node }) => nodes.get(uid) !== node);
  if (wrong.length > 0) throw new Error(`${wrong.length} pods of ${run} are not bound, such as ${wrong[0]?.name}`);
}

/** Works on all items, so many at a time, and answers in their order. */
export async function inParallel<T, R>(
  items: readonly T[],
  workers: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return results;
}
