import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mutate, mutation } from "../../test/arbitraries/damage.ts";
import { nodeText, type OuterMember, outerMembers, wantedTree } from "../../test/arbitraries/extenderargs.ts";
import { canonical, expected, parsed, plain } from "../../test/fuzz/oracle.ts";
import { nodeSkims } from "../adapters/node-skims.ts";
import type { ExtenderArgs } from "./args.ts";
import { isObject, type Json } from "./json.ts";
import { type PathTree, pathTree } from "./paths.ts";
import { argsInPieces, readArgs } from "./read-args.ts";
import { ShapeError } from "./scan.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const parse = (bytes: Uint8Array): Json => JSON.parse(decoder.decode(bytes));
/** As text that travels in UTF-8 arrives: a lone surrogate written raw is lost on the way. */
const parseText = (text: string): Json => parse(encoder.encode(text));

const skims = nodeSkims();

/** The body's arguments, or undefined when it was refused: the same in plain JavaScript and with WebAssembly's help. */
function attempt(body: Uint8Array, tree: PathTree): ExtenderArgs | undefined {
  const whole = outcome(() => readArgs(body, tree));
  const skimmed = outcome(() => {
    const reading = argsInPieces({ wanted: tree, retain: () => () => true, skims });
    reading.push(body);
    return reading.end();
  });
  same(skimmed, whole);
  return typeof whole === "string" ? undefined : whole;
}

/** What was read, or the words of the refusal. Anything but a ShapeError is a failure. */
function outcome(read: () => ExtenderArgs): ExtenderArgs | string {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(ShapeError);
    expect((error as ShapeError).message.length).toBeLessThan(120);
    return (error as ShapeError).message;
  }
}

function same(actual: unknown, expected: unknown): void {
  // toEqual shows the difference well, but does not see every one.
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
  expect(isDeepStrictEqual(actual, expected)).toBe(true);
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
