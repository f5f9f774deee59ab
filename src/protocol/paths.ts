import { field, isObject, type Json, type JsonObject } from "./json.ts";

/** The fields somebody wants to read of an object, as a tree. Build it with {@link pathTree}. */
export interface PathTree {
  readonly branches: readonly Branch[];
}

/** One wanted field: the whole value, or only what lies `below` where the value is an object. */
export interface Branch {
  readonly key: string;
  /** The key in UTF-8, as it stands in JSON text between its quotes when nothing is escaped. */
  readonly name: Uint8Array;
  /** The key as JSON text with its colon, such as `"labels":`. */
  readonly prefix: Uint8Array;
  readonly below: PathTree | undefined;
}

/** A level under construction; undefined stands for the whole value. */
type Draft = Map<string, Draft | undefined>;

const encoder = new TextEncoder();

/**
 * Turns paths into a tree: `metadata.labels`, or `metadata.labels[a,b]` for some keys of a map. `metadata.name` is always
 * in it, and a path that leads to a value wins over paths into that value.
 */
export function pathTree(paths: readonly string[]): PathTree {
  const root: Draft = new Map();
  for (const path of [...paths, "metadata.name"]) {
    const { fields, keys } = splitPath(path);
    plant(root, fields, keys);
  }
  return grow(root);
}

/**
 * The path of some keys of a map, such as `metadata.labels[a,b]`. Keys that cannot be written so, which no key in
 * Kubernetes is, make it the path of the whole map.
 */
export function mapPath(map: string, keys: readonly string[]): string {
  return keys.some((key) => key === "" || /[[\],]/.test(key)) ? map : `${map}[${keys.join(",")}]`;
}

/** Fields joined by dots, and the keys in brackets behind them, if there are any. */
function splitPath(path: string): { readonly fields: readonly string[]; readonly keys?: readonly string[] } {
  const [, map, keys] = /^([^[]+)\[(.*)\]$/.exec(path) ?? [];
  if (map === undefined || keys === undefined) return { fields: path.split(".") };
  return { fields: map.split("."), keys: keys === "" ? [] : keys.split(",") };
}

/** Plants the whole value of a path of fields, or no more than some keys of it. */
function plant(root: Draft, fields: readonly string[], keys: readonly string[] | undefined): void {
  let level = root;
  for (const key of keys === undefined ? fields.slice(0, -1) : fields) {
    if (level.has(key) && level.get(key) === undefined) return;
    const below: Draft = level.get(key) ?? new Map();
    level.set(key, below);
    level = below;
  }
  if (keys === undefined) level.set(fields.at(-1) ?? "", undefined);
  else for (const key of keys) level.set(key, undefined);
}

function grow(draft: Draft): PathTree {
  const branches = [...draft].map(([key, below]) => ({
    key,
    name: encoder.encode(key),
    prefix: encoder.encode(`${JSON.stringify(key)}:`),
    below: below && grow(below),
  }));
  return { branches };
}

/**
 * The object with nothing but its wanted fields, as a new object; wanted values are shared, not copied.
 *
 * Only own fields count. An absent field stays absent. A value on the way to a wanted field that is no object (null,
 * an array, a scalar) is kept as it is, so whoever reads the result sees the same wrong type as in the original.
 */
export function cutDown(object: JsonObject, tree: PathTree): JsonObject {
  const kept: [string, Json][] = [];
  for (const { key, below } of tree.branches) {
    const value = field(object, key);
    if (value === undefined) continue;
    kept.push([key, below !== undefined && isObject(value) ? cutDown(value, below) : value]);
  }
  // fromEntries defines own properties, also for a key such as __proto__.
  return Object.fromEntries(kept);
}
