import { startCore } from "./core.ts";
import { follow } from "./follow.ts";
import type { DryDecision, InformerModeOptions } from "./options.ts";
import { fullName } from "./pods.ts";

/**
 * Decides once for each pod that waits now, and writes nothing: neither Lease, Binding, event nor condition. Each
 * decision counts for those after it, as if it had been carried out.
 */
export async function decideOnly(options: InformerModeOptions, tell: (decision: DryDecision) => void): Promise<void> {
  const { caches, cluster, queue, choose, connection, governing } = await startCore(options, "dry-run");
  const { schedulerName } = options;
  follow(caches.sources, { cluster, queue, schedulerName, deviceFreed: () => undefined });
  await caches.whenSynced;
  for (let waiting = queue.take(); waiting !== undefined; waiting = queue.take()) {
    const { pod } = waiting;
    const choice = await choose(pod);
    if (choice.kind === "node") {
      cluster.assume(pod, choice.node.name);
      tell({ pod: fullName(pod), node: choice.node.name, score: choice.score, fitting: choice.fitting });
    } else {
      tell({ pod: fullName(pod), reason: choice.message });
    }
  }
  queue.stop();
  await governing.stop();
  await caches.stop();
  await connection.close();
}
