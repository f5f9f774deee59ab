import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";

/** Steps into a document, from its root. */
export type Path = readonly (string | number)[];

/** Where something stands, from 1, as editors count. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * The offset of the key or list entry that a path leads to, or of the nearest one above that is there; of the document
 * itself when nothing is.
 */
export function offsetOf(document: Document, path: Path): number {
  let node = document.contents as Node | null | undefined;
  let offset = node?.range?.[0] ?? 0;
  for (const step of path) {
    const next = stepInto(isAlias(node) ? node.resolve(document) : node, step);
    if (next === undefined) break;
    offset = next.offset ?? offset;
    node = next.node;
  }
  return offset;
}

interface Step {
  readonly offset: number | undefined;
  readonly node: Node | null;
}

function stepInto(node: Node | null | undefined, step: string | number): Step | undefined {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(step)];
    return item && { offset: item.range?.[0], node: item };
  }
  if (!isMap<Node, Node | null>(node)) return undefined;
  const pair = node.items.findLast(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair && { offset: pair.key.range?.[0], node: pair.value ?? null };
}
