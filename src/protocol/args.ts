import { field, isObject, type Json, type JsonObject } from "./json.ts";
import type { PathTree } from "./paths.ts";
import { readWanted, type Scratch, scratch } from "./project.ts";
import { keyText, readKey, readValue } from "./read.ts";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  type Cursor,
  cursorOn,
  enter,
  next,
  OPEN_BRACE,
  OPEN_BRACKET,
  peek,
  ShapeError,
  skipValue,
} from "./scan.ts";

/** A node as the request has it. */
export interface RequestNode {
  readonly name: string;
  /** The node cut down to the wanted paths and `metadata.name`; in names form nothing but the name. */
  readonly object: JsonObject;
  /** In nodes form the request's own bytes of the node: a view, not a copy. */
  readonly raw?: Uint8Array;
}

/**
 * What kube-scheduler asks in filter and prioritize: `ExtenderArgs`, k8s.io/kube-scheduler
 * `extender/v1/types.go` v0.37.2.
 */
export interface ExtenderArgs {
  /** `nodes` when whole nodes came (`nodeCacheCapable: false`); the answer must have the same form. */
  readonly form: "nodes" | "names";
  /** The pod, whole. */
  readonly pod: JsonObject;
  /** In the request's order, each name once: the first of a name stays. */
  readonly nodes: readonly RequestNode[];
  /** Names that came again and were dropped, once for every repetition. */
  readonly duplicates: readonly string[];
}

/** What a part of the body turned out to be. A ShapeError counts only when no later key of that name replaces it. */
type Part<T> = T | ShapeError | undefined;

interface NodeList {
  readonly nodes: RequestNode[];
  readonly duplicates: string[];
  readonly seen: Set<string>;
}

/**
 * Reads the body of a filter or prioritize call, parsing of each node only what is wanted.
 *
 * Go writes the outer keys without JSON tags (`Pod`, `Nodes`, `NodeNames`), older tools in lower camel case: they
 * count in any casing. An explicit null is an absent part, of a repeated key the last counts, a leading byte order
 * mark is passed over. Inside Pod and nodes keys are exact. Values that nobody wants are not checked beyond their
 * brackets and quotes.
 *
 * @throws {ShapeError} and nothing else, when the body is not JSON, or not ExtenderArgs.
 */
export function readArgs(body: Uint8Array, wanted: PathTree): ExtenderArgs {
  const cursor = cursorOn(body);
  openBody(cursor);
  let pod: Json = null;
  let nodes: Part<NodeList>;
  let names: Part<NodeList>;
  for (let more = enter(cursor, CLOSE_BRACE); more; more = next(cursor, CLOSE_BRACE)) {
    const key = readOuterKey(cursor);
    if (key === "pod") pod = readValue(cursor);
    else if (key === "nodes") nodes = readNodes(cursor, wanted);
    else if (key === "nodenames") names = listNames(readValue(cursor));
    else skipValue(cursor);
  }
  if (peek(cursor) !== -1) throw new ShapeError(`the body goes on after its JSON object, at byte ${cursor.at}`);
  return assemble(pod, nodes, names);
}

/** Moves to the body's opening brace. */
function openBody(cursor: Cursor): void {
  const { bytes } = cursor;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) cursor.at = 3;
  const byte = peek(cursor);
  if (byte === -1) throw new ShapeError("the body is empty");
  if (byte !== OPEN_BRACE) throw new ShapeError(`the body must be a JSON object (byte ${cursor.at})`);
}

function readOuterKey(cursor: Cursor): string {
  readKey(cursor);
  return keyText(cursor).toLowerCase();
}

function assemble(pod: Json, nodes: Part<NodeList>, names: Part<NodeList>): ExtenderArgs {
  if (pod === null) throw new ShapeError("Pod is missing");
  if (!isObject(pod)) throw new ShapeError("Pod must be an object");
  if (nodes instanceof ShapeError) throw nodes;
  if (names instanceof ShapeError) throw names;
  const list = nodes ?? names;
  if (list === undefined) throw new ShapeError("Nodes and NodeNames are both missing");
  return { form: nodes === undefined ? "names" : "nodes", pod, nodes: list.nodes, duplicates: list.duplicates };
}

/** Reads the NodeList at the cursor: `{"metadata":{},"items":[…]|null}`. */
function readNodes(cursor: Cursor, wanted: PathTree): Part<NodeList> {
  if (peek(cursor) !== OPEN_BRACE) return readNull(cursor, "Nodes must be an object");
  let items: Part<NodeList>;
  for (let more = enter(cursor, CLOSE_BRACE); more; more = next(cursor, CLOSE_BRACE)) {
    if (readOuterKey(cursor) === "items") items = readItems(cursor, wanted);
    else skipValue(cursor);
  }
  return items ?? emptyList();
}

/** Reads a value that may only be null here. */
function readNull(cursor: Cursor, otherwise: string): ShapeError | undefined {
  return readValue(cursor) === null ? undefined : new ShapeError(otherwise);
}

function readItems(cursor: Cursor, wanted: PathTree): Part<NodeList> {
  if (peek(cursor) !== OPEN_BRACKET) return readNull(cursor, "Nodes.items must be an array");
  const list = emptyList();
  const space = scratch();
  let fault: ShapeError | undefined;
  let index = 0;
  for (let more = enter(cursor, CLOSE_BRACKET); more; more = next(cursor, CLOSE_BRACKET)) {
    peek(cursor);
    const node = readNode(cursor, wanted, space, index++);
    if (node instanceof ShapeError) fault ??= node;
    else add(list, node);
  }
  return fault ?? list;
}

/** Reads one node. Needs nothing but the bytes from its brace on, so a body that still arrives can be tried again. */
function readNode(cursor: Cursor, wanted: PathTree, space: Scratch, index: number): RequestNode | ShapeError {
  const place = `Nodes.items[${index}]`;
  const start = cursor.at;
  if (peek(cursor) !== OPEN_BRACE) {
    skipValue(cursor);
    return new ShapeError(`${place} must be an object`);
  }
  const object = readWanted(cursor, wanted, space, place);
  const name = field(field(object, "metadata"), "name");
  if (typeof name !== "string") return new ShapeError(`${place}.metadata.name must be a string`);
  return { name, object, raw: cursor.bytes.subarray(start, cursor.at) };
}

function listNames(names: Json): Part<NodeList> {
  if (names === null) return undefined;
  if (!Array.isArray(names)) return new ShapeError("NodeNames must be an array");
  const list = emptyList();
  for (const [index, name] of (names as readonly Json[]).entries()) {
    if (typeof name !== "string") return new ShapeError(`NodeNames[${index}] must be a string`);
    add(list, { name, object: { metadata: { name } } });
  }
  return list;
}

function emptyList(): NodeList {
  return { nodes: [], duplicates: [], seen: new Set() };
}

function add({ nodes, duplicates, seen }: NodeList, node: RequestNode): void {
  if (seen.has(node.name)) {
    duplicates.push(node.name);
    return;
  }
  seen.add(node.name);
  nodes.push(node);
}
