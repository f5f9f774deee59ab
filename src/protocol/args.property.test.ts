import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nodeText, type OuterMember, outerMembers, wantedTree } from "../../test/arbitraries/extenderargs.ts";
import type { ExtenderArgs } from "./args.ts";
import { field, isObject, type Json, type JsonObject } from "./json.ts";
import { cutDown, type PathTree, pathTree } from "./paths.ts";
import { readArgs } from "./read-args.ts";
import { ShapeError } from "./scan.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const parse = (bytes: Uint8Array): Json => JSON.parse(decoder.decode(bytes));
/** As text that travels in UTF-8 arrives: a lone surrogate written raw is lost on the way. */
const parseText = (text: string): Json => parse(encoder.encode(text));

/** The body's arguments, or undefined when it was refused. Anything but a ShapeError is a failure. */
function attempt(body: Uint8Array, tree: PathTree): ExtenderArgs | undefined {
  try {
    return readArgs(body, tree);
  } catch (error) {
    expect(error).toBeInstanceOf(ShapeError);
    expect((error as ShapeError).message.length).toBeLessThan(120);
    return undefined;
  }
}

function same(actual: unknown, expected: unknown): void {
  // toEqual shows the difference well, but does not see every one.
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
  expect(isDeepStrictEqual(actual, expected)).toBe(true);
}

type Plain = Pick<ExtenderArgs, "form" | "pod" | "duplicates"> & { readonly objects: readonly JsonObject[] };

function plain(args: ExtenderArgs | undefined): Plain | undefined {
  if (args === undefined) return undefined;
  const { form, pod, nodes, duplicates } = args;
  for (const { name, object } of nodes) same(field(object["metadata"], "name"), name);
  return { form, pod, duplicates, objects: nodes.map(({ object }) => object) };
}

/** What readArgs promises, by parsing everything: the parts by their exact keys, or undefined where it must refuse. */
function expected(parts: Readonly<Record<string, Json>>, tree: PathTree): Plain | undefined {
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

test("A node reads as if it had been parsed whole and cut down, however its JSON is spelled", () => {
  let read = 0;
  fc.assert(
    fc.property(nodeText, wantedTree, (text, tree) => {
      const args = attempt(encoder.encode(`{"Pod":{},"Nodes":{"items":[ ${text}\n]}}`), tree);
      same(plain(args), expected({ Pod: {}, Nodes: { items: [parseText(text)] } }, tree));
      if (args !== undefined) read++;
      for (const { raw } of args?.nodes ?? []) same(decoder.decode(raw), decoder.decode(encoder.encode(text)));
    }),
    { numRuns: 3000 },
  );
  expect(read).toBeGreaterThan(1500);
});

test("A request reads as if it had been parsed whole, with keys in any casing and the last of repeated ones", () => {
  const seen = { nodes: 0, names: 0, refused: 0 };
  const lastOf = (members: readonly OuterMember[]) =>
    Object.fromEntries(members.map(({ key, value }) => [key, parseText(value)]));
  fc.assert(
    fc.property(outerMembers, wantedTree, (members, tree) => {
      const body = encoder.encode(`{${members.map(({ text }) => text).join(" ,")}}`);
      const args = attempt(body, tree);
      same(plain(args), expected(lastOf(members), tree));
      seen[args?.form ?? "refused"]++;
    }),
    { numRuns: 3000 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(200);
});

/** A place in the body as a fraction, what happens there, and the byte for it. */
const mutation = fc.tuple(
  fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  fc.constantFrom("replace", "insert", "delete", "cut"),
  fc.oneof(
    fc.constantFrom(...encoder.encode('"\\{}[]:, \n0en'), 0, 0x80, 0xc3, 0xff),
    fc.integer({ min: 0, max: 255 }),
  ),
);

function mutate(body: Uint8Array, [fraction, kind, byte]: readonly [number, string, number]): Uint8Array {
  const at = Math.floor(fraction * body.length);
  if (kind === "cut") return body.slice(0, at);
  const rest = body.subarray(kind === "insert" ? at : at + 1);
  return Uint8Array.from([...body.subarray(0, at), ...(kind === "delete" ? [] : [byte]), ...rest]);
}

function parsed(body: Uint8Array): Json | undefined {
  try {
    return parse(body);
  } catch {
    return undefined;
  }
}

/** The parts under their own names: damage can turn `Pod` into `pod`. */
function canonical(whole: JsonObject): Record<string, Json> {
  const names = new Map(["Pod", "Nodes", "NodeNames"].map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    Object.entries(whole).map(([key, value]) => [names.get(key.toLowerCase()) ?? key, value ?? null]),
  );
}

test("A damaged request is refused, or read as what it still says", () => {
  const tree = pathTree(["metadata.labels", "status.allocatable"]);
  fc.assert(
    fc.property(nodeText, fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, mutations) => {
      const body = encoder.encode(`{"Pod":{"a":1},"Nodes":{"metadata":{},"items":[${text},${text}]},"NodeNames":null}`);
      const damaged = mutations.reduce(mutate, body);
      const args = attempt(damaged, tree);
      const whole = parsed(damaged);
      if (whole !== undefined) same(plain(args), isObject(whole) ? expected(canonical(whole), tree) : undefined);
    }),
    { numRuns: 4000 },
  );
});

test("Damage inside what is wanted never goes unnoticed", () => {
  const tree = pathTree(["metadata", "spec", "status"]);
  let invalid = 0;
  fc.assert(
    fc.property(fc.json(), fc.json(), mutation, (labels, status, change) => {
      const node = `{"metadata":{"name":"n","labels":${labels}},"spec":{},"status":${status}}`;
      const damaged = mutate(encoder.encode(`{"Pod":{"a":${status}},"Nodes":{"items":[${node}]}}`), change);
      if (parsed(damaged) !== undefined) return;
      invalid++;
      expect(attempt(damaged, tree)).toBeUndefined();
    }),
    { numRuns: 4000 },
  );
  expect(invalid).toBeGreaterThan(1000);
});
