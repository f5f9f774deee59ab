import type { ControlPlane } from "../controlplane/controlplane.ts";
import { startBinder } from "../e2e/binder.ts";
import { fillCluster } from "./binder-cluster.ts";
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
  await fillCluster(plane, { nodes, pods });
  const figures = { seconds: [] as number[], peakBytes: [] as number[], bytes: [] as number[] };
  for (let run = 0; run < runs; run++) {
    progress(`cache: start ${run + 1} of ${runs}`);
    const started = performance.now();
    const binder = await startBinder(plane, { name: `cache-${run}`, open: true, within: 600_000 });
    figures.seconds.push((performance.now() - started) / 1000);
    const { peakBytes, bytes } = await usageOf(binder.process.pid);
    figures.peakBytes.push(peakBytes);
    figures.bytes.push(bytes);
    await binder.stop();
  }
  return { nodes, pods, ...figures };
}
