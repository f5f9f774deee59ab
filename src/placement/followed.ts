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
