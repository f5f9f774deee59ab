import type { Api } from "../controlplane/api.ts";
import type { Pod } from "../controlplane/objects.ts";

/** What the controller-manager would do for a ReplicaSet: there is none beside the control plane for tests. */
export interface ReplicaSet {
  /** How many of its pods have a node. */
  placed(): number;
  /** How many of its pods are gone, also those that nobody saw on a node: a victim may be evicted milliseconds after its bind. */
  lost(): number;
  /** Creates no more pods. Resolves when nothing is under way; throws what creating or listing has thrown. */
  stop(): Promise<void>;
}

/** Keeps `replicas` pods of a template alive: whatever is deleted is replaced. */
export function startReplicaSet(
  api: Api,
  { replicas, template }: { readonly replicas: number; readonly template: () => Pod },
): ReplicaSet {
  let mine: readonly Pod[] = [];
  let lost = 0;
  let stopped = false;

  async function reconcile(): Promise<void> {
    const alive = await existing(api, mine);
    lost += mine.length - alive.length;
    const missing = Array.from({ length: replicas - alive.length }, () => api.create<Pod>(template()));
    mine = [...alive, ...(await Promise.all(missing))];
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      await reconcile();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const ended = loop();
  // Who stops it is told; until then nobody waits for it.
  ended.catch(() => {});
  return {
    placed: () => mine.filter(({ spec }) => spec.nodeName !== undefined).length,
    lost: () => lost,
    async stop() {
      stopped = true;
      await ended;
    },
  };
}

async function existing(api: Api, pods: readonly Pod[]): Promise<Pod[]> {
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const all = await api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" });
  return all.filter(({ metadata }) => names.has(metadata.name) && metadata.deletionTimestamp === undefined);
}
