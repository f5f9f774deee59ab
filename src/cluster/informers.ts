import { nodeOfConfigMap, UNHEALTHY_NAMESPACE } from "../placement/gpushare.ts";
import type { JsonObject } from "../protocol/json.ts";
import { type Informer, type InformerOptions, startInformer } from "./informer.ts";
import { CONFIG_MAPS, NODE_LEDGERS, NODES, POD_DISRUPTION_BUDGETS, PODS } from "./resources.ts";
import { createSharer } from "./share.ts";
import { podPathsToKeep, trimPod } from "./trim-pod.ts";

/** What is left to choose for a resource whose informer is defined here. */
export type Following = Pick<InformerOptions, "connection" | "staleAfter" | "timing" | "warn"> & {
  /** The fields to keep. */
  readonly paths: readonly string[];
};

/**
 * Pods of all namespaces that are not over yet, as kube-scheduler follows them (v1.37, pkg/scheduler/scheduler.go,
 * NewInformerFactory): a pod that succeeds or fails is deleted for the handlers. Containers are trimmed.
 */
export function podInformer(following: Following): Informer {
  const fieldSelector = "status.phase!=Succeeded,status.phase!=Failed";
  const share = createSharer();
  const trim = (pod: JsonObject) => trimPod(pod, share);
  const paths = podPathsToKeep(following.paths);
  return startInformer({ ...following, paths, resource: PODS, fieldSelector, listing: "pages", trim });
}

export function nodeInformer(following: Following): Informer {
  return startInformer({ ...following, resource: NODES, listing: "pages" });
}

/**
 * The ConfigMaps `unhealthy-gpu-<node>`. The API server cannot select by the beginning of a name, so the others of the
 * namespace are watched too and dropped as they come.
 */
export function unhealthyGpuInformer(following: Following): Informer {
  return startInformer({
    ...following,
    resource: CONFIG_MAPS,
    namespace: UNHEALTHY_NAMESPACE,
    keep: (object) => nodeOfConfigMap(object) !== undefined,
  });
}

export function budgetInformer(following: Following): Informer {
  return startInformer({ ...following, resource: POD_DISRUPTION_BUDGETS });
}

/** The ledgers, for whoever shows them: the binder itself decides by what it reads and writes, never by a watch. */
export function ledgerInformer(following: Following): Informer {
  return startInformer({ ...following, resource: NODE_LEDGERS });
}
