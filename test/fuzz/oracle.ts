import type { ExtenderArgs } from "../../src/protocol/args.ts";
import { field, isObject, type Json, type JsonObject } from "../../src/protocol/json.ts";
import { cutDown, type PathTree } from "../../src/protocol/paths.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Arguments without the bytes they came from. */
export type Plain = Pick<ExtenderArgs, "form" | "pod" | "duplicates"> & { readonly objects: readonly JsonObject[] };

/** The arguments as the oracle gives them; undefined for a body that was refused. */
export function plain(args: ExtenderArgs | undefined): Plain | undefined {
  if (args === undefined) return undefined;
  const { form, pod, nodes, duplicates } = args;
  return { form, pod, duplicates, objects: nodes.map(({ object }) => object) };
}

/** What readArgs promises, by parsing everything: the parts by their exact keys, or undefined where it must refuse. */
export function expected(parts: Readonly<Record<string, Json>>, tree: PathTree): Plain | undefined {
  const { Pod: pod, Nodes: nodes = null, NodeNames: names = null } = parts;
  const form = nodes === null ? "names" : "nodes";
  const objects = nodes === null ? namedNodes(names) : listedNodes(nodes);
  const listed = distinct(objects, tree);
  return isObject(pod) && listed && (names === null || namedNodes(names)) ? { form, pod, ...listed } : undefined;
}

function namedNodes(names: Json): readonly Json[] | undefined {
  if (!Array.isArray(names) || names.some((name) => typeof name !== "string")) return undefined;
  return names.map((name) => ({ metadata: { name } }));
}

function listedNodes(list: Json): readonly Json[] | undefined {
  if (!isObject(list)) return undefined;
  const key = Object.keys(list).find((each) => each.toLowerCase() === "items");
  const items = (key && list[key]) ?? [];
  return Array.isArray(items) ? items : undefined;
}

function distinct(
  items: readonly Json[] | undefined,
  tree: PathTree,
): Pick<Plain, "objects" | "duplicates"> | undefined {
  const first = new Map<string, JsonObject>();
  const duplicates: string[] = [];
  if (items === undefined) return undefined;
  for (const item of items) {
    const name = field(field(item, "metadata"), "name");
    if (!isObject(item) || typeof name !== "string") return undefined;
    if (first.has(name)) duplicates.push(name);
    else first.set(name, cutDown(item, tree));
  }
  return { objects: [...first.values()], duplicates };
}

/** A body as JSON.parse reads it; undefined when it is no JSON. */
export function parsed(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    return undefined;
  }
}

/** The parts under their own names: damage can turn `Pod` into `pod`. */
export function canonical(whole: JsonObject): Record<string, Json> {
  const names = new Map(["Pod", "Nodes", "NodeNames"].map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    Object.entries(whole).map(([key, value]) => [names.get(key.toLowerCase()) ?? key, value ?? null]),
  );
}
