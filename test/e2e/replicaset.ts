import type { Api } from "../controlplane/api.ts";
import type { Pod } from "../controlplane/objects.ts";

/** What the controller-manager would do for a ReplicaSet: there is none beside the control plane for tests. */
export interface ReplicaSet {
  /** How many of its pods have a node. */
  placed(): number;
  /** How many of its pods that had a node are gone. */
  lost(): number;
  /** Creates no more pods. Resolves when nothing is under way; throws what creating or listing has thrown. */
  stop(): Promise<void>;
}

/** Keeps `replicas` pods of a template alive: whatever is deleted is replaced. */
export function startReplicaSet(
  api: Api,
  { replicas, template }: { readonly replicas: number; readonly template: () => Pod },
): ReplicaSet {
  const placed = new Set<string>();
  const lost = new Set<string>();
  let mine: readonly Pod[] = [];
  let stopped = false;

  async function reconcile(): Promise<void> {
    const alive = await existing(api, mine);
    for (const name of placed) if (!alive.some(({ metadata }) => metadata.name === name)) lost.add(name);
    for (const { metadata, spec } of alive) if (spec.nodeName !== undefined) placed.add(metadata.name);
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
    placed: () => placed.size - lost.size,
    lost: () => lost.size,
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
