import { isObject, type Json, type JsonObject } from "../protocol/json.ts";
import type { Far } from "./far.ts";

/** Asks for pods before the scheduler does. */
export interface Ahead {
  /** A pod has appeared. */
  pod(pod: JsonObject): void;
}

/** What asking ahead needs. */
export interface AheadOptions {
  /** Those whose profiles are in use. */
  fars(): readonly Far[];
  /** Every node there is. */
  nodes(): Iterable<JsonObject>;
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number;
  /** Questions at a time. Default 8. */
  readonly atOnce?: number;
}

/** Pods that wait for their turn; of more at once the scheduler asks itself, which costs a wait and nothing else. */
const MOST_WAITING = 2_000;

/** The list of nodes is made again after so many milliseconds; a class that it lacks is asked for when it counts. */
const NODES_FOR = 200;

/** Asks in the order in which pods appear. What is remembered or being asked already costs nothing. */
export function createAhead({ fars, nodes, elapsed, atOnce = 8 }: AheadOptions): Ahead {
  const waiting: JsonObject[] = [];
  let known: { readonly nodes: readonly JsonObject[]; readonly at: number } | undefined;
  let running = 0;
  const list = (): readonly JsonObject[] => {
    const now = elapsed();
    if (known === undefined || now - known.at > NODES_FOR) known = { nodes: [...nodes()], at: now };
    return known.nodes;
  };
  const work = async (): Promise<void> => {
    running += 1;
    try {
      for (let pod = waiting.shift(); pod !== undefined; pod = waiting.shift()) {
        for (const far of fars()) await far.ahead(pod, list());
      }
    } finally {
      running -= 1;
    }
  };
  return {
    pod(pod) {
      if (!isPending(pod) || waiting.length >= MOST_WAITING || fars().length === 0) return;
      waiting.push(pod);
      if (running < atOnce) void work();
    },
  };
}

function isPending(pod: JsonObject): boolean {
  return part(pod, "spec", "nodeName") === undefined && part(pod, "metadata", "deletionTimestamp") === undefined;
}

function part(object: JsonObject, outer: string, inner: string): Json | undefined {
  const value = object[outer];
  return isObject(value) ? value[inner] : undefined;
}
