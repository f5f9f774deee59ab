import type { Connection } from "../cluster/connection.ts";
import { startInformer } from "../cluster/informer.ts";
import { ledgerInformer, nodeInformer, podInformer, unhealthyGpuInformer } from "../cluster/informers.ts";
import { type Joined, joinInformers } from "../cluster/joined.ts";
import { PODS } from "../cluster/resources.ts";
import { USAGE_PATHS } from "../placement/node-usage.ts";
import { POD_PATHS as DEVICE_POD_PATHS, NODE_PATHS } from "../placement/placed.ts";
import type { Log } from "../policy/log.ts";
import type { View } from "../policy/view.ts";
import { devices } from "../policy/views/devices.ts";
import type { Sources } from "./follow.ts";
import { POD_PATHS } from "./pods.ts";

/** Everything that is followed, and how that goes. */
export interface Caches extends Joined {
  readonly sources: Sources;
}

/** What has to be known. */
export interface CachesOptions {
  /** What the policy reads. */
  readonly views: readonly View<unknown>[];
  /** Follow ledgers and unhealthy devices too. */
  readonly devices: boolean;
  /** Keep whole pods and nodes: somebody else is sent them. */
  readonly whole: boolean;
  readonly log: Log;
}

const WHOLE: readonly string[] = ["apiVersion", "kind", "metadata", "spec", "status"];

/** Begins to follow the cluster. */
export function startCaches(connection: Connection, { views, log, ...options }: CachesOptions): Caches {
  const of = (paths: readonly string[]) => ({
    connection,
    paths: options.whole ? WHOLE : paths,
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) => log("warn", message, fields),
  });
  const pods = of([...DEVICE_POD_PATHS, ...USAGE_PATHS, ...POD_PATHS, ...pathsOf(views, "pod")]);
  const informers = {
    pods: options.whole ? startInformer({ ...pods, resource: PODS, fieldSelector: NOT_OVER }) : podInformer(pods),
    nodes: nodeInformer(of([...NODE_PATHS, "metadata.labels", ...pathsOf(views, "node")])),
    ...(options.devices && { unhealthy: unhealthyGpuInformer(of(["data"])), ledgers: ledgerInformer(of(LEDGER)) }),
  };
  return { sources: informers, ...joinInformers(Object.values(informers)) };
}

const NOT_OVER = "status.phase!=Succeeded,status.phase!=Failed";
const LEDGER = ["metadata.name", "spec", "status.usage"];

/** What is read of pods or nodes; devices are known better here than a node's condition tells. */
function pathsOf(views: readonly View<unknown>[], of: "pod" | "node"): readonly string[] {
  return views.flatMap((view) => (view.of === of && view.name !== devices.name ? view.paths : []));
}
