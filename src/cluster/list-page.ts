import { isObject, type Json, type JsonObject } from "../protocol/json.ts";
import type { PathTree } from "../protocol/paths.ts";
import { readWanted, scratch } from "../protocol/project.ts";
import { keyText, readKey, readValue } from "../protocol/read.ts";
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
  skipValue,
} from "../protocol/scan.ts";
import { metadataText } from "./metadata.ts";

/** A page of a list, its items not read yet. */
export interface ListPage {
  readonly version: string;
  /** What to ask for the next page by; empty on the last one. */
  readonly next: string;
  /**
   * The items, of each no more than what is wanted; one that is no object comes as an empty one. Throws a ShapeError
   * where the text breaks off or is not JSON. What nobody wants is not looked at closely.
   */
  items(): Generator<JsonObject>;
}

/**
 * Reads a page from its bytes: most of an object is of interest to nobody, and building it would be most of the work.
 * The API server writes a list's metadata before its items, so that the next page can be asked for before this one is
 * taken in (k8s.io/apimachinery v0.37, runtime/serializer/json/collections.go).
 *
 * @param wanted undefined: everything
 * @returns undefined for what is no list
 * @throws ShapeError for what is not JSON
 */
export function readListPage(body: Uint8Array, wanted: PathTree | undefined): ListPage | undefined {
  const cursor = cursorOn(body);
  if (peek(cursor) !== OPEN_BRACE) return undefined;
  const { metadata, items } = readOuter(cursor);
  const version = metadataText({ metadata }, "resourceVersion");
  if (version === "" || items === "none") return undefined;
  return {
    version,
    next: metadataText({ metadata }, "continue"),
    *items() {
      if (items !== undefined) yield* readItems({ ...cursor, at: items }, wanted);
    },
  };
}

interface Outer {
  metadata?: Json;
  /** Where they begin; absent for null, as Go writes an empty list. */
  items?: number | "none";
}

/** Reads no further than it has to. */
function readOuter(cursor: Cursor): Outer {
  const outer: Outer = {};
  for (let more = enter(cursor, CLOSE_BRACE); more; more = next(cursor, CLOSE_BRACE)) {
    readKey(cursor);
    const key = keyText(cursor);
    if (key === "metadata") outer.metadata = readValue(cursor);
    else if (key !== "items") skipValue(cursor);
    else if (peek(cursor) === OPEN_BRACKET) {
      outer.items = cursor.at;
      if (outer.metadata !== undefined) return outer;
      skipValue(cursor);
    } else if (readValue(cursor) !== null) outer.items = "none";
  }
  return outer;
}

function* readItems(cursor: Cursor, wanted: PathTree | undefined): Generator<JsonObject> {
  const out = scratch();
  for (let more = enter(cursor, CLOSE_BRACKET); more; more = next(cursor, CLOSE_BRACKET)) {
    if (wanted !== undefined && peek(cursor) === OPEN_BRACE)
      yield readWanted(cursor, wanted, out, "an item of the list");
    else yield objectOr(readValue(cursor));
  }
}

function objectOr(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
