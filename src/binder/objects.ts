import type { JsonObject } from "../protocol/json.ts";

/** The objects of one resource, followed; an informer is one. */
export interface Objects {
  get(name: string, namespace?: string): JsonObject | undefined;
  values(): Iterable<JsonObject>;
  /** The handler hears of every object that is there already as added. Gives the way out. */
  subscribe(handler: {
    add?(object: JsonObject): void;
    update?(object: JsonObject, previous: JsonObject): void;
    delete?(object: JsonObject): void;
  }): () => void;
}

/** Everything the binder follows. */
export interface Sources {
  readonly pods: Objects;
  readonly nodes: Objects;
  /** The ConfigMaps `unhealthy-gpu-<node>`. */
  readonly unhealthy: Objects;
  readonly budgets: Objects;
  /** For showing and cleaning; devices are given by what is read and written, never by this. */
  readonly ledgers: Objects;
}
