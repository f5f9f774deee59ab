import type { PlacedPod } from "../placement/model.ts";
import { placedPod } from "../placement/placed.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { createArrivals } from "./arrivals.ts";
import type { Objects } from "./objects.ts";

/** The pods by what one asks for them by. Pods in a terminal phase are not among them. */
export interface PodIndex {
  byUid(uid: string): PlacedPod | undefined;
  byName(namespace: string, name: string): PlacedPod | undefined;
  /** The pods bound to a node. */
  on(node: string): readonly PlacedPod[];
  /** The pods that are not bound yet and nominated to a node. */
  nominatedTo(node: string): readonly PlacedPod[];
  /** The pods that ask for device memory and are not bound yet. */
  waiting(): readonly PlacedPod[];
  /** Resolves when all these pods, by UID, are known to have a node, or after so many milliseconds. */
  placed(uids: readonly string[], ms: number): Promise<void>;
  /** Hears of every pod that has a node after somebody has waited for that in vain. */
  onLate(hear: (pod: PlacedPod) => void): void;
  /** Hears of every pod that is there, that changes, and (`gone`) that is not there any more. */
  subscribe(hear: (pod: PlacedPod, gone: boolean) => void): void;
}

const NONE: readonly PlacedPod[] = [];

/** Follows the pods for as long as the program runs. */
export function indexPods(pods: Objects): PodIndex {
  const byUid = new Map<string, PlacedPod>();
  const on = groups();
  const nominated = groups();
  const waiting = groups();
  const hearers = new Set<(pod: PlacedPod, gone: boolean) => void>();
  const arrivals = placements((uid) => byUid.get(uid));
  const take = (uid: string): PlacedPod | undefined => {
    const known = byUid.get(uid);
    if (known === undefined) return undefined;
    byUid.delete(uid);
    on.take(known.nodeName, uid);
    waiting.take("", uid);
    if (known.nominatedNode !== undefined) nominated.take(known.nominatedNode, uid);
    return known;
  };
  const put = (object: JsonObject): void => {
    const pod = placedPod(object);
    take(pod.uid);
    byUid.set(pod.uid, pod);
    if (pod.nodeName !== "") on.put(pod.nodeName, pod);
    else if (pod.nominatedNode !== undefined) nominated.put(pod.nominatedNode, pod);
    if (pod.nodeName === "" && pod.request > 0n) waiting.put("", pod);
    for (const hear of hearers) hear(pod, false);
    arrivals.came(pod);
  };
  pods.subscribe({
    add: put,
    update: put,
    delete: (object) => {
      const known = take(uidOf(object));
      if (known !== undefined) for (const hear of hearers) hear(known, true);
    },
  });
  return {
    byUid: (uid) => byUid.get(uid),
    byName: (namespace, name) => byUid.get(uidOf(pods.get(name, namespace))),
    on: on.of,
    nominatedTo: nominated.of,
    waiting: () => waiting.of(""),
    placed: arrivals.placed,
    onLate: arrivals.onLate,
    subscribe(hear) {
      hearers.add(hear);
      for (const pod of [...byUid.values()]) hear(pod, false);
    },
  };
}

/** Those who wait for a pod to be known with its node. */
function placements(known: (uid: string) => PlacedPod | undefined): Pick<PodIndex, "placed" | "onLate"> & {
  came(pod: PlacedPod): void;
} {
  const arrivals = createArrivals();
  return {
    came({ uid, nodeName }) {
      if (nodeName !== "") arrivals.came(uid);
    },
    async placed(uids, ms) {
      const missing = uids.filter((uid) => (known(uid)?.nodeName ?? "") === "");
      await Promise.all(missing.map((uid) => arrivals.wait(uid, ms)));
    },
    onLate: (hear) =>
      arrivals.onLate((uid) => {
        const pod = known(uid);
        if (pod !== undefined) hear(pod);
      }),
  };
}

function uidOf(object: JsonObject | undefined): string {
  const uid = field(field(object, "metadata"), "uid");
  return typeof uid === "string" ? uid : "";
}

/** Pods by a name, the lists made again only after a change. */
function groups() {
  const pods = new Map<string, Map<string, PlacedPod>>();
  const lists = new Map<string, readonly PlacedPod[]>();
  return {
    put(key: string, pod: PlacedPod): void {
      const group = pods.get(key) ?? new Map<string, PlacedPod>();
      pods.set(key, group.set(pod.uid, pod));
      lists.delete(key);
    },
    take(key: string, uid: string): void {
      const group = pods.get(key);
      if (group?.delete(uid) && group.size === 0) pods.delete(key);
      lists.delete(key);
    },
    of(key: string): readonly PlacedPod[] {
      const group = pods.get(key);
      if (group === undefined) return NONE;
      const list = lists.get(key) ?? [...group.values()];
      lists.set(key, list);
      return list;
    },
  };
}
