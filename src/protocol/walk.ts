import type { ExtenderArgs, Keep, Retain } from "./args.ts";
import { field, isObject, type Json, type JsonObject } from "./json.ts";
import { addNode, emptyList, listNames, type NodeList, type Part } from "./node-list.ts";
import type { PathTree } from "./paths.ts";
import { readWanted, type Scratch, scratch } from "./project.ts";
import { keyText, readKey, readValue } from "./read.ts";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  type Cursor,
  CutOffError,
  enter,
  next,
  OPEN_BRACE,
  OPEN_BRACKET,
  peek,
  ShapeError,
  skipValue,
  syntaxError,
} from "./scan.ts";

/** What a walk over ExtenderArgs does with nodes. */
export interface NodeReading {
  readonly wanted: PathTree;
  readonly retain: Retain;
  /** Gives bytes that last as long as the answer. */
  readonly keepRaw: (bytes: Uint8Array) => Uint8Array;
}

/** A walk, or a part of one. It yields when it has to wait for bytes. */
type Walking<T> = Generator<void, T, void>;

/** Walks a body of ExtenderArgs. Throws ShapeError, and nothing else that `retain` does not throw. */
export function* walkArgs(cursor: Cursor, reading: NodeReading): Walking<ExtenderArgs> {
  yield* whole(cursor, openBody);
  let pod: Json = null;
  let nodes: Part<NodeList>;
  let names: Part<NodeList>;
  for (let more = yield* whole(cursor, enterObject); more; more = yield* whole(cursor, nextMember)) {
    const key = yield* whole(cursor, readOuterKey);
    if (key === "pod") pod = yield* whole(cursor, readValue);
    else if (key === "nodes") nodes = yield* walkNodes(cursor, reading, isObject(pod) ? pod : undefined);
    else if (key === "nodenames") names = listNames(yield* whole(cursor, readValue));
    else yield* whole(cursor, passValue);
  }
  yield* walkToEnd(cursor);
  return assemble(pod, nodes, names);
}

/** Reads something that has to be there whole: when it is cut off, waits for more bytes and reads it again. */
function* whole<T>(cursor: Cursor, read: (cursor: Cursor) => T): Walking<T> {
  for (;;) {
    const start = cursor.at;
    try {
      return read(cursor);
    } catch (error) {
      if (!cursor.more || !(error instanceof CutOffError)) throw error;
      cursor.at = start;
    }
    yield;
  }
}

const enterObject = (cursor: Cursor) => enter(cursor, CLOSE_BRACE);
const enterArray = (cursor: Cursor) => enter(cursor, CLOSE_BRACKET);
const nextMember = (cursor: Cursor) => next(cursor, CLOSE_BRACE);
const nextItem = (cursor: Cursor) => next(cursor, CLOSE_BRACKET);

/** The first byte of the next value. */
function firstByte(cursor: Cursor): number {
  const byte = peek(cursor);
  if (byte === -1) throw syntaxError(cursor);
  return byte;
}

function passValue(cursor: Cursor): void {
  peek(cursor);
  skipValue(cursor);
}

/** Moves to the body's opening brace. */
function openBody(cursor: Cursor): void {
  const { bytes, end, more } = cursor;
  if (end < 3 && more) throw syntaxError({ ...cursor, at: end });
  if (end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) cursor.at = 3;
  const byte = peek(cursor);
  if (byte === -1 && more) throw syntaxError(cursor);
  if (byte === -1) throw new ShapeError("the body is empty");
  if (byte !== OPEN_BRACE) throw new ShapeError(`the body must be a JSON object (byte ${cursor.base + cursor.at})`);
}

function* walkToEnd(cursor: Cursor): Walking<void> {
  for (;;) {
    if (peek(cursor) !== -1) {
      throw new ShapeError(`the body goes on after its JSON object, at byte ${cursor.base + cursor.at}`);
    }
    if (!cursor.more) return;
    yield;
  }
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

/** Walks the NodeList at the cursor: `{"metadata":{},"items":[…]|null}`. */
function* walkNodes(cursor: Cursor, reading: NodeReading, pod: JsonObject | undefined): Walking<Part<NodeList>> {
  if ((yield* whole(cursor, firstByte)) !== OPEN_BRACE) return yield* walkNull(cursor, "Nodes must be an object");
  let items: Part<NodeList>;
  for (let more = yield* whole(cursor, enterObject); more; more = yield* whole(cursor, nextMember)) {
    if ((yield* whole(cursor, readOuterKey)) === "items") items = yield* walkItems(cursor, reading, pod);
    else yield* whole(cursor, passValue);
  }
  return items ?? emptyList();
}

/** Reads a value that may only be null here. */
function* walkNull(cursor: Cursor, otherwise: string): Walking<ShapeError | undefined> {
  return (yield* whole(cursor, readValue)) === null ? undefined : new ShapeError(otherwise);
}

function* walkItems(cursor: Cursor, reading: NodeReading, pod: JsonObject | undefined): Walking<Part<NodeList>> {
  if ((yield* whole(cursor, firstByte)) !== OPEN_BRACKET)
    return yield* walkNull(cursor, "Nodes.items must be an array");
  const list = emptyList();
  const items = { ...reading, keep: reading.retain(pod), space: scratch(), list, index: 0 };
  let fault: ShapeError | undefined;
  for (let more = yield* whole(cursor, enterArray); more; more = yield* whole(cursor, nextItem)) {
    const wrong = yield* whole(cursor, (at) => readItem(at, items));
    fault ??= wrong;
    items.index++;
  }
  return fault ?? list;
}

interface Items extends NodeReading {
  readonly keep: Keep;
  readonly space: Scratch;
  readonly list: NodeList;
  /** Of the next item. */
  readonly index: number;
}

/** Reads one node into the list; answers what is wrong with it, if it is no node. */
function readItem(cursor: Cursor, { wanted, space, index, list, keep, keepRaw }: Items): ShapeError | undefined {
  const place = `Nodes.items[${index}]`;
  if (firstByte(cursor) !== OPEN_BRACE) {
    skipValue(cursor);
    return new ShapeError(`${place} must be an object`);
  }
  const start = cursor.at;
  const object = readWanted(cursor, wanted, space, place);
  const name = field(field(object, "metadata"), "name");
  if (typeof name !== "string") return new ShapeError(`${place}.metadata.name must be a string`);
  const node: { name: string; object: JsonObject; raw?: Uint8Array } = { name, object };
  if (addNode(list, node) && keep(node)) node.raw = keepRaw(cursor.bytes.subarray(start, cursor.at));
  return undefined;
}
