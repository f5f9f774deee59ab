import type { ControlPlane } from "../controlplane/controlplane.ts";
import { buildNodes, createNodes } from "../controlplane/nodes.ts";
import { buildFullPod } from "../controlplane/pods.ts";
import { startBinder } from "../e2e/binder.ts";
import { inParallel } from "./binder-targets.ts";
import type { Measuring } from "./measure.ts";
import { usageOf } from "./usage.ts";

/** What it takes to know a cluster, start by start. */
export interface CacheFigures {
  readonly nodes: number;
  readonly pods: number;
  /** From the start of the process until /readyz says yes. */
  readonly seconds: readonly number[];
  /** The most memory the process held. */
  readonly peakBytes: readonly number[];
  /** The memory it held when it was ready. */
  readonly bytes: readonly number[];
}

/** Starts the binder again and again on a cluster of realistic nodes full of pods. */
export async function measureCache(
  plane: ControlPlane,
  { nodes, pods }: { readonly nodes: number; readonly pods: number },
  { runs, progress }: Measuring,
): Promise<CacheFigures> {
  progress(`creating ${nodes} nodes and ${pods} pods`);
  await createNodes(plane.api, buildNodes(nodes, { namePrefix: "node-" }), { parallel: 24 });
  const indices = Array.from({ length: pods }, (_, index) => index);
  await inParallel(indices, 24, async (index) => {
    await plane.api.create(buildFullPod({ name: `checkout-${index}`, nodeName: `node-${index % nodes}`, cpu: "500m" }));
  });
  const figures = { seconds: [] as number[], peakBytes: [] as number[], bytes: [] as number[] };
  for (let run = 0; run < runs; run++) {
    progress(`cache: start ${run + 1} of ${runs}`);
    const started = performance.now();
    const binder = await startBinder(plane, { name: `cache-${run}`, open: true });
    figures.seconds.push((performance.now() - started) / 1000);
    const { peakBytes, bytes } = await usageOf(binder.process.pid);
    figures.peakBytes.push(peakBytes);
    figures.bytes.push(bytes);
    await binder.stop();
  }
  return { nodes, pods, ...figures };
}
