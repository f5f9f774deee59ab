import { readPod } from "../placement/standing.ts";
import type { Core } from "./core.ts";
import { isOurs } from "./pods.ts";

/** How long a pod may count by assumption before it is looked at, in milliseconds; looked for as often. */
const ASSUMED_FOR = 60_000;

/**
 * Looks at pods that were given a node and that no watch has shown there for a minute: what the API server says of
 * them then counts, and one that is unbound after all is tried again. A pod whose bind is still under way is left to it.
 */
export function startExpiry(
  { cluster, queue, protocol }: Pick<Core, "cluster" | "queue" | "protocol">,
  schedulerName: string,
): { stop(): void } {
  let before = new Set<string>();
  const look = async (uid: string): Promise<void> => {
    const assumed = cluster.podOn(uid);
    if (assumed?.assumed !== true || queue.isTaken(uid)) return;
    const read = await readPod(protocol.context, assumed.pod);
    if (read.kind === "unknown" || cluster.podOn(uid) !== assumed) return;
    cluster.forget(uid);
    if (read.kind === "pod" && read.pod.uid === uid) {
      cluster.putPod(read.pod);
      if (isOurs(read.pod, schedulerName)) queue.put(read.pod);
    }
    queue.wake();
  };
  const timer = setInterval(() => {
    const assumed = cluster.nodes().flatMap(({ pods }) => [...pods.values()].filter((each) => each.assumed));
    const now = assumed.map(({ pod }) => pod.uid);
    for (const uid of now.filter((each) => before.has(each))) void look(uid);
    before = new Set(now);
  }, ASSUMED_FOR);
  return { stop: () => clearInterval(timer) };
}
