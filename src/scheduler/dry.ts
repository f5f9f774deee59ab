import { type Core, startCore } from "./core.ts";
import { follow } from "./follow.ts";
import type { DryDecision, InformerModeOptions } from "./options.ts";
import { fullName } from "./pods.ts";

/**
 * Decides once for each pod that waits now, and writes nothing: neither Lease, Binding, event nor condition. Each
 * decision counts for those after it, as if it had been carried out.
 */
export async function decideOnly(options: InformerModeOptions, tell: (decision: DryDecision) => void): Promise<void> {
  const core = await startCore(options, "dry-run");
  const { caches, queue, connection, governing } = core;
  try {
    await decideAll(options, core, tell);
  } finally {
    queue.stop();
    await governing.stop();
    await caches.stop();
    await connection.close();
  }
}

async function decideAll(
  { schedulerName }: InformerModeOptions,
  { caches, cluster, queue, choose }: Core,
  tell: (decision: DryDecision) => void,
): Promise<void> {
  const deaf = { seen: () => undefined, deviceFreed: () => undefined, nodeGone: () => undefined };
  follow(caches.sources, { cluster, queue, schedulerName, ...deaf });
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
}
