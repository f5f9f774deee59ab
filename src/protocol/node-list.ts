import type { RequestNode } from "./args.ts";
import type { Json } from "./json.ts";
import { ShapeError } from "./scan.ts";

/** What a part of the body turned out to be. A ShapeError counts only when no later key of that name replaces it. */
export type Part<T> = T | ShapeError | undefined;

/** The nodes of a request, each name once. */
export interface NodeList {
  readonly nodes: RequestNode[];
  readonly duplicates: string[];
  readonly seen: Set<string>;
}

/** A list without nodes. */
export function emptyList(): NodeList {
  return { nodes: [], duplicates: [], seen: new Set() };
}

/** Adds a node, or counts its name as a duplicate and answers false. */
export function addNode({ nodes, duplicates, seen }: NodeList, node: RequestNode): boolean {
  if (seen.has(node.name)) {
    duplicates.push(node.name);
    return false;
  }
  seen.add(node.name);
  nodes.push(node);
  return true;
}

/** The nodes that NodeNames names; null is an absent part. */
export function listNames(names: Json): Part<NodeList> {
  if (names === null) return undefined;
  if (!Array.isArray(names)) return new ShapeError("NodeNames must be an array");
  const wrong = (names as readonly Json[]).findIndex((name) => typeof name !== "string");
  if (wrong >= 0) return new ShapeError(`NodeNames[${wrong}] must be a string`);
  const seen = new Set(names as readonly string[]);
  if (seen.size === names.length) return { nodes: names.map(namedNode), duplicates: [], seen };
  const list = emptyList();
  for (const name of names as readonly string[]) addNode(list, namedNode(name));
  return list;
}

function namedNode(name: string): RequestNode {
  return { name, object: { metadata: { name } } };
}
