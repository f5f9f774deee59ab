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
  const list = emptyList();
  for (const [index, name] of (names as readonly Json[]).entries()) {
    if (typeof name !== "string") return new ShapeError(`NodeNames[${index}] must be a string`);
    addNode(list, { name, object: { metadata: { name } } });
  }
  return list;
}
