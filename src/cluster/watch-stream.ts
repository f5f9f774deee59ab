import { field, isObject, type JsonObject } from "../protocol/json.ts";
import { parseObject } from "./answer.ts";
import { metadataText } from "./metadata.ts";

/** One event of a watch (k8s.io/apimachinery v0.37, pkg/apis/meta/v1/watch.go, WatchEvent). */
export type WatchEvent =
  | { readonly kind: "put" | "delete"; readonly object: JsonObject }
  /** Everything up to this version has been sent. `complete`: and with it the objects that were there at the start. */
  | { readonly kind: "bookmark"; readonly version: string; readonly complete: boolean }
  | { readonly kind: "error"; readonly status: number; readonly message: string };

/** The stream holds something that is no watch event: what came before it counts, what follows cannot be trusted. */
export class GarbageError extends Error {
  override readonly name = "GarbageError";
}

/** Far above what etcd stores of one object (1.5 MiB), so that a stream without line ends cannot fill the memory. */
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * Cuts a stream into lines, and gives those that each chunk completes; an empty list still says that somebody is there.
 * Characters may be split over chunks. Throws GarbageError for a line of more than 16 MiB, and what the stream throws.
 */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  let begun: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = textOf(begun, chunk.subarray(start, end));
      if (line.length > 0) lines.push(line);
      begun = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) begun.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > LONGEST_LINE) throw new GarbageError(`a line of the watch has more than ${LONGEST_LINE} bytes`);
    yield lines;
  }
}

/** Most lines lie within one chunk and need no copy. */
function textOf(begun: readonly Uint8Array[], rest: Uint8Array): string {
  return decoder.decode(begun.length === 0 ? rest : Buffer.concat([...begun, rest]));
}

/** Keeps a byte order mark as the character that it is inside of a stream. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const CHANGES: Readonly<Record<string, "put" | "delete">> = { ADDED: "put", MODIFIED: "put", DELETED: "delete" };

/** The annotation that ends the initial objects of a watch list (k8s.io/apimachinery, meta/v1, InitialEventsAnnotationKey). */
const COMPLETE = "k8s.io/initial-events-end";

/** Reads a line. Throws GarbageError when it is no watch event; what the object is like is for others to judge. */
export function readEvent(line: string): WatchEvent {
  const event = parseObject(line);
  const type = field(event, "type");
  const object = field(event, "object");
  if (typeof type !== "string" || !isObject(object)) throw new GarbageError("a line of the watch is no event");
  const kind = Object.hasOwn(CHANGES, type) ? CHANGES[type] : undefined;
  if (kind !== undefined) return { kind, object };
  if (type === "BOOKMARK") return bookmark(object);
  if (type === "ERROR") return failure(object);
  throw new GarbageError("a line of the watch has an unknown type");
}

function bookmark(object: JsonObject): WatchEvent {
  const version = metadataText(object, "resourceVersion");
  if (version === "") throw new GarbageError("a bookmark has no resourceVersion");
  const complete = field(field(field(object, "metadata"), "annotations"), COMPLETE) === "true";
  return { kind: "bookmark", version, complete };
}

function failure(object: JsonObject): WatchEvent {
  const code = field(object, "code");
  const message = field(object, "message");
  return {
    kind: "error",
    status: typeof code === "number" ? code : 500,
    message: typeof message === "string" ? message : "without a message",
  };
}
