import type { Objects } from "../placement/followed.ts";
import { nodeOfConfigMap, UNHEALTHY_NAMESPACE, unhealthyConfigMap, unhealthyDevices } from "../placement/gpushare.ts";
import type { PlacedPod } from "../placement/model.ts";
import { placedNode, placedPod } from "../placement/placed.ts";
import { field, type Json, type JsonObject } from "../protocol/json.ts";
import type { Cluster } from "./cluster.ts";
import { isOurs } from "./pods.ts";
import type { Queue } from "./queue.ts";

/** What is followed. */
export interface Sources {
  readonly pods: Objects;
  readonly nodes: Objects;
  /** The ConfigMaps of unhealthy devices, and the ledgers: only where the profile gives devices. */
  readonly unhealthy?: Objects;
  readonly ledgers?: Objects;
}

/** Who hears of what is seen. */
export interface FollowOptions {
  readonly cluster: Cluster;
  readonly queue: Pick<Queue, "put" | "drop" | "wake">;
  readonly schedulerName: string;
  /** Hears of every pod as it is seen. */
  seen(pod: PlacedPod): void;
  /** A pod with a device of this node has ended. */
  deviceFreed(node: string): void;
  /** The node is not there any more. */
  nodeGone(node: string): void;
}

/**
 * Keeps cluster and queue as the watches show them, and wakes the pods that wait when something has happened that can
 * help one of them: a pod has left its node or takes less of it, a node is new or is not what it was, a device has
 * healed, a ledger holds fewer claims.
 */
export function follow({ pods, nodes, unhealthy, ledgers }: Sources, options: FollowOptions): void {
  const { cluster, queue } = options;
  const idsOn = (node: string): ReadonlySet<string> =>
    unhealthyDevices(unhealthy?.get(unhealthyConfigMap(node), UNHEALTHY_NAMESPACE)).ids;
  const putNode = (object: JsonObject): void => cluster.putNode(placedNode(object, idsOn(nameOf(object))));
  nodes.subscribe({
    add(object) {
      putNode(object);
      queue.wake();
    },
    update(object, previous) {
      putNode(object);
      if (!saysTheSame(object, previous)) queue.wake();
    },
    delete(object) {
      cluster.dropNode(nameOf(object));
      options.nodeGone(nameOf(object));
    },
  });
  followPods(pods, options);
  const again = (configMap: JsonObject): void => {
    const node = nodes.get(nodeOfConfigMap(configMap) ?? "");
    if (node === undefined) return;
    putNode(node);
    queue.wake();
  };
  unhealthy?.subscribe({ add: again, update: again, delete: again });
  ledgers?.subscribe({
    update(object, previous) {
      if (claimsIn(object) < claimsIn(previous)) queue.wake();
    },
  });
}

function followPods(pods: Objects, { cluster, queue, schedulerName, ...hearers }: FollowOptions): void {
  const see = (object: JsonObject): void => {
    const pod = placedPod(object);
    if (cluster.putPod(pod)) queue.wake();
    if (isOurs(pod, schedulerName)) queue.put(pod);
    else queue.drop(pod.uid);
    hearers.seen(pod);
  };
  pods.subscribe({
    add: see,
    update: see,
    delete(object) {
      const pod = placedPod(object);
      queue.drop(pod.uid);
      const node = cluster.podOn(pod.uid)?.node;
      if (!cluster.dropPod(pod.uid)) return;
      if (pod.request > 0n && node !== undefined) hearers.deviceFreed(node);
      queue.wake();
    },
  });
}

/** True when only the version is another: what no plugin reads was never kept. */
function saysTheSame(one: JsonObject, other: JsonObject): boolean {
  return textOf(one) === textOf(other);
}

function textOf(object: JsonObject): string {
  return JSON.stringify(object, (key, value) => (key === "resourceVersion" ? undefined : value));
}

function claimsIn(ledger: JsonObject): number {
  const claims: Json | undefined = field(field(ledger, "spec"), "claims");
  return Array.isArray(claims) ? claims.length : 0;
}

function nameOf(object: JsonObject): string {
  const name = field(field(object, "metadata"), "name");
  return typeof name === "string" ? name : "";
}
