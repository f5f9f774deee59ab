import { LRUCache } from "lru-cache";
import type { RawScore } from "../policy/plugin.ts";
import type { NodeClass } from "./classes.ts";

/** What the function said of a class of nodes: the first refusal of the plugins asked about, or their raw scores. */
export type FarRow =
  | { readonly refusal: { readonly plugin: string; readonly reason: string; readonly unresolvable: boolean } }
  | { readonly scores: readonly RawScore[] };

/** The function cannot judge this pod on these nodes: why, in its own words or in a few of the reader's. */
export interface Refused {
  readonly refused: string;
}

/** The rows for pods that are alike in everything that the plugins read of a pod. */
export interface PodRows {
  get(nodeClass: NodeClass): FarRow | undefined;
  put(nodeClass: NodeClass, row: FarRow): void;
  /** What is being asked about now; gives what became of it when it was no rows. */
  readonly flights: Map<NodeClass, Promise<Refused | undefined>>;
}

/** Remembers rows of one version of a policy; those that were not used for longest go first. */
export interface Rows {
  /** @param pod the pod's facts as text */
  of(pod: string): PodRows;
  size(): number;
}

/** About 100 bytes each. */
const MOST_ROWS = 200_000;

/** Classes come and go with their nodes: a pod's rows begin anew after so many. */
const MOST_OF_A_POD = 20_000;

/** A memory of at most so many rows. */
export function createRows(most: number = MOST_ROWS): Rows {
  // A pod counts for one more row than it has, or pods without rows would be without number.
  const pods = new LRUCache<string, { readonly rows: PodRows; readonly size: number }>({
    maxSize: most,
    sizeCalculation: ({ size }) => size + 1,
  });
  return {
    of(pod) {
      const known = pods.get(pod);
      if (known) return known.rows;
      const rows = podRows(Math.min(most - 1, MOST_OF_A_POD), (size) => pods.set(pod, { rows, size }));
      pods.set(pod, { rows, size: 0 });
      return rows;
    },
    size: () => [...pods.values()].reduce((sum, { size }) => sum + size, 0),
  };
}

function podRows(most: number, grown: (size: number) => void): PodRows {
  const rows = new Map<NodeClass, FarRow>();
  return {
    get: (nodeClass) => rows.get(nodeClass),
    put(nodeClass, row) {
      if (rows.size >= most) rows.clear();
      rows.set(nodeClass, row);
      grown(rows.size);
    },
    flights: new Map(),
  };
}
