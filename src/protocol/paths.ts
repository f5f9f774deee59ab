import { field, isObject, type Json, type JsonObject } from "./json.ts";

/** The fields somebody wants to read of an object, as a tree. Build it with {@link pathTree}. */
export interface PathTree {
  readonly branches: readonly Branch[];
}

/**
 * One wanted field: the whole value, or only what lies `below` where the value is an object; for `each`, where it is a
 * list, only what lies `below` in each item that is an object.
 */
export interface Branch {
  readonly key: string;
  /** The key in UTF-8, as it stands in JSON text between its quotes when nothing is escaped. */
  readonly name: Uint8Array;
  /** The key as JSON text with its colon, such as `"labels":`. */
  readonly prefix: Uint8Array;
  readonly below: PathTree | undefined;
  readonly each: boolean;
}

/** A level under construction; undefined stands for the whole value. */
type Draft = Map<string, Sprout | undefined>;

interface Sprout {
  readonly below: Draft;
  readonly each: boolean;
}

const encoder = new TextEncoder();

/**
 * Turns paths into a tree: `metadata.labels`, `metadata.labels[a,b]` for some keys of a map, or `spec.containers[].name`
 * for a field of each item of a list. `metadata.name` is always in it, and a path that leads to a value wins over paths
 * into that value.
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
  const [, map, keys] = /^(.+)\[([^[\]]*)\]$/.exec(path) ?? [];
  if (map === undefined || keys === undefined) return { fields: path.split(".") };
  return { fields: map.split("."), keys: keys === "" ? [] : keys.split(",") };
}

/** Plants the whole value of a path of fields, or no more than some keys of it. */
function plant(root: Draft, fields: readonly string[], keys: readonly string[] | undefined): void {
  let level: Draft | undefined = root;
  for (const field of keys === undefined ? fields.slice(0, -1) : fields) level = level && descend(level, field);
  if (level === undefined) return;
  for (const key of keys ?? [fields.at(-1) ?? ""]) level.set(key, undefined);
}

/** What lies below a field, or below each item of a list; undefined where all of it is wanted. */
function descend(level: Draft, field: string): Draft | undefined {
  const each = field.endsWith("[]");
  const key = each ? field.slice(0, -2) : field;
  const known = level.get(key);
  // Wanted both as an object and as a list: whoever reads it will see which it is.
  const whole = known === undefined ? level.has(key) : known.each !== each;
  const sprout = whole ? undefined : (known ?? { below: new Map(), each });
  level.set(key, sprout);
  return sprout?.below;
}

function grow(draft: Draft): PathTree {
  const branches = [...draft].map(([key, sprout]) => ({
    key,
    name: encoder.encode(key),
    prefix: encoder.encode(`${JSON.stringify(key)}:`),
    below: sprout && grow(sprout.below),
    each: sprout?.each === true,
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
  for (const branch of tree.branches) {
    const value = field(object, branch.key);
    if (value !== undefined) kept.push([branch.key, cutValue(value, branch)]);
  }
  // fromEntries defines own properties, also for a key such as __proto__.
  return Object.fromEntries(kept);
}

function cutValue(value: Json, { below, each }: Branch): Json {
  if (below === undefined) return value;
  if (each && Array.isArray(value)) return value.map((item: Json) => (isObject(item) ? cutDown(item, below) : item));
  return !each && isObject(value) ? cutDown(value, below) : value;
}
