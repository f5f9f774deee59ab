import type { Connection } from "../cluster/connection.ts";
import { startInformer } from "../cluster/informer.ts";
import { budgetInformer, ledgerInformer, podInformer, unhealthyGpuInformer } from "../cluster/informers.ts";
import { type Joined, joinInformers } from "../cluster/joined.ts";
import { NODES } from "../cluster/resources.ts";
import type { Log } from "../extender/log.ts";
import { BUDGET_PATHS } from "../placement/disruption.ts";
import { NODE_PATHS, POD_PATHS } from "../placement/placed.ts";
import { ROOM_PATHS } from "../placement/room.ts";
import { everyView } from "../policy/view-table.ts";
import type { Sources } from "./objects.ts";
import { trimConditions } from "./published.ts";

/** Everything that is followed, and how that goes. */
export interface Caches extends Joined {
  readonly sources: Sources;
}

/**
 * The places of pods that are kept. Functions are asked ahead about a pod as it is kept: what any view reads has to be
 * there, or the rows would be those of another pod than the one that kube-scheduler then asks about.
 */
export function podPaths(): string[] {
  const read = everyView().filter((view) => view.of === "pod" && view.read);
  return [...new Set([...POD_PATHS, ...ROOM_PATHS.pod, ...read.flatMap(({ paths }) => paths)])];
}

/** Begins to follow the cluster. */
export function startCaches(connection: Connection, nodePaths: readonly string[], log: Log): Caches {
  const of = (paths: readonly string[]) => ({
    connection,
    paths,
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) => log("warn", message, fields),
  });
  const informers = {
    pods: podInformer(of(podPaths())),
    nodes: startInformer({
      ...of([...NODE_PATHS, ...ROOM_PATHS.node, "status.conditions", ...nodePaths]),
      resource: NODES,
      listing: "pages",
      // A policy of its own may read other conditions.
      ...(!nodePaths.some((path) => path === "status" || path.startsWith("status.conditions")) && {
        trim: trimConditions,
      }),
    }),
    unhealthy: unhealthyGpuInformer(of(["data"])),
    budgets: budgetInformer(of(BUDGET_PATHS)),
    ledgers: ledgerInformer(of(["metadata.name", "spec", "status.usage"])),
  };
  return { sources: informers, ...joinInformers(Object.values(informers)) };
}
