import { LRUCache } from "lru-cache";
import { factToJson } from "../policy/fact-json.ts";
import { Unreadable, type View } from "../policy/view.ts";
import type { Json, JsonObject } from "../protocol/json.ts";

/** Nodes that are alike in everything that some plugins read. */
export interface NodeClass {
  /** The facts by the names of their views, as `evaluate` takes them. */
  readonly facts: JsonObject;
  /** A class is nothing that anybody is told of. */
  toJSON(): undefined;
}

/** Finds the classes of nodes. */
export interface NodeClasses {
  /** The same object for nodes that are alike; a lookup for a node object that was seen before. */
  of(node: JsonObject): NodeClass;
}

/** Far more than a cluster has; classes that no node belongs to any more are forgotten. */
const MOST_CLASSES = 20_000;

/** Classes by some views. Node objects must never be changed, as those of a followed cluster are not. */
export function nodeClasses(views: readonly View<unknown>[]): NodeClasses {
  const byNode = new WeakMap<JsonObject, NodeClass>();
  const byFacts = new LRUCache<string, NodeClass>({ max: MOST_CLASSES });
  return {
    of(node) {
      const known = byNode.get(node);
      if (known) return known;
      const { facts, text } = readFacts(views, node);
      const found = byFacts.get(text) ?? { facts, toJSON: () => undefined };
      byFacts.set(text, found);
      byNode.set(node, found);
      return found;
    },
  };
}

/** Facts of an object as `evaluate` takes them, and as a text that is the same for the same facts. */
export function readFacts(
  views: readonly View<unknown>[],
  object: JsonObject,
): { readonly facts: JsonObject; readonly text: string } {
  const facts: Record<string, Json> = {};
  for (const view of views) {
    // Slow views read no clock.
    const fact = view.read?.(object, 0);
    facts[view.name] =
      fact instanceof Unreadable ? { unreadable: { field: fact.field, problem: fact.problem } } : factToJson(fact);
  }
  return { facts, text: JSON.stringify(sorted(facts)) };
}

/** Keys of maps in one order: the order in which an API server writes labels tells nothing. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each ?? null)]));
}
