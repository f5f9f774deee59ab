import fc from "fast-check";
import { expect, test } from "vitest";
import { filterAnswer, filterError, prioritizeAnswer } from "./answer.ts";
import type { ExtenderArgs, RequestNode } from "./args.ts";
import type { Json, JsonObject } from "./json.ts";
import { pathTree } from "./paths.ts";
import { readArgs } from "./read-args.ts";

const none: ReadonlyMap<string, string> = new Map();
const utf8 = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const text = (answer: Uint8Array | readonly Uint8Array[]) =>
  answer instanceof Uint8Array ? decode(answer) : answer.map(decode).join("");
const node = (name: string) => `{"metadata":{"name":"${name}","uid":"u"},"status":{"images":[ "x" , 1.0]}}`;
const request = (items: string) => readArgs(utf8(`{"Pod":{},"Nodes":{"items":[${items}]}}`), pathTree([]));
const result = (args: ExtenderArgs, kept = args.nodes) => ({ form: args.form, kept, failed: none, unresolvable: none });

test("A filter answer to whole nodes has the kept nodes' own bytes, in order, and every field of the type", () => {
  const args = request(`${node("a")},${node("b")} ,\n${node("c")},${node("d")},${node("e")}`);
  const kept = [0, 1, 2, 4].map((index) => args.nodes[index] as RequestNode);
  const answer = { ...result(args, kept), failed: new Map([["d", "too dear"]]) };
  expect(text(filterAnswer(answer))).toBe(
    `{"Nodes":{"metadata":{},"items":[${node("a")},${node("b")},${node("c")},${node("e")}]},"NodeNames":null,` +
      '"FailedNodes":{"d":"too dear"},"FailedAndUnresolvableNodes":{},"Error":""}',
  );
});

test("A filter answer to names has names", () => {
  const args = readArgs(utf8('{"Pod":{},"NodeNames":["b","a\\"","c"]}'), pathTree([]));
  const answer = { ...result(args, args.nodes.slice(0, 2)), unresolvable: new Map([["c", "closed zone"]]) };
  expect(text(filterAnswer(answer))).toBe(
    '{"Nodes":null,"NodeNames":["b","a\\""],"FailedNodes":{},"FailedAndUnresolvableNodes":{"c":"closed zone"},"Error":""}',
  );
});

test("When no node fits, the answer has an empty list in the form asked", () => {
  expect(JSON.parse(text(filterAnswer(result(request(node("a")), []))))).toMatchObject({
    Nodes: { items: [] },
    NodeNames: null,
  });
  expect(JSON.parse(text(filterAnswer({ ...result(request(""), []), form: "names" })))).toMatchObject({
    Nodes: null,
    NodeNames: [],
  });
});

test("Reasons reach nodes whose names are those of an object's built-in members", () => {
  const reasons = new Map(["__proto__", "constructor", "toString"].map((name) => [name, `not "${name}"`]));
  const answer = text(filterAnswer({ ...result(request("")), failed: reasons, unresolvable: reasons }));
  const expected =
    '{"__proto__":"not \\"__proto__\\"","constructor":"not \\"constructor\\"","toString":"not \\"toString\\""}';
  expect(answer).toContain(`"FailedNodes":${expected},"FailedAndUnresolvableNodes":${expected}`);
});

test("A node that is kept twice is answered once", () => {
  const { nodes, ...args } = request(`${node("a")},${node("b")}`);
  const answer = JSON.parse(text(filterAnswer(result({ ...args, nodes }, [...nodes, ...nodes]))));
  expect(answer.Nodes.items).toEqual([JSON.parse(node("a")), JSON.parse(node("b"))]);
});

test("Nodes from different places are separated by commas, whatever else lies beside them", () => {
  const first = utf8('{"a":1} {"b":2},{"x":0}');
  const other = utf8(`${"#".repeat(15)},{"c":3}`);
  const raws = [first.subarray(0, 7), first.subarray(8, 15), other.subarray(16)];
  const kept = raws.map((raw, index) => ({ name: `n${index}`, object: {}, raw }));
  expect(text(filterAnswer({ form: "nodes", kept, failed: none, unresolvable: none }))).toContain(
    '"items":[{"a":1},{"b":2},{"c":3}]',
  );
});

test("A node that was asked by name cannot be answered whole", () => {
  const args = readArgs(utf8('{"Pod":{},"NodeNames":["n"]}'), pathTree([]));
  expect(() => filterAnswer({ ...result(args), form: "nodes" })).toThrow("node n came without its bytes");
});

test("An error answer carries the message and no nodes, and never reads as an empty answer", () => {
  const empty = { Nodes: null, NodeNames: null, FailedNodes: {}, FailedAndUnresolvableNodes: {} };
  expect(JSON.parse(text(filterError('bad "pod"\n')))).toEqual({ ...empty, Error: 'bad "pod"\n' });
  expect(JSON.parse(text(filterError("")))).toEqual({ ...empty, Error: "the extender gave no reason" });
});

test("Scores are written as plain integers", () => {
  const hosts = [0, 5, 10, -0].map((score, i) => ({ name: `n"${i}`, score }));
  expect(text(prioritizeAnswer(hosts))).toBe(
    '[{"Host":"n\\"0","Score":0},{"Host":"n\\"1","Score":5},{"Host":"n\\"2","Score":10},{"Host":"n\\"3","Score":0}]',
  );
  expect(text(prioritizeAnswer([]))).toBe("[]");
});

test.each([7.5, -1, 11, 1e21, Number.NaN, Number.POSITIVE_INFINITY])(
  "A score of %d is refused, it would lose the list",
  (score) => {
    expect(() => prioritizeAnswer([{ name: "n", score }])).toThrow("the score of node n must be an integer 0…10");
  },
);

/** Nodes as their bytes, some twice, with what lies between them; and for each of them the verdict. */
const asked = fc.array(
  fc.record({
    name: fc.oneof(
      fc.constantFrom("a", "b", "__proto__", "constructor"),
      fc.string({ unit: "grapheme", maxLength: 8 }),
    ),
    fields: fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    indent: fc.constantFrom(undefined, undefined, 1),
    between: fc.constantFrom(",", ",", ",", " ,", ", ", "\n,\n"),
    verdict: fc.constantFrom("keep", "keep", "fail", "unresolvable"),
  }),
  { maxLength: 12 },
);

test("Whatever was asked and decided, the answer is a part of the question: once, in order, byte for byte", () => {
  fc.assert(
    fc.property(asked, fc.constantFrom<"nodes" | "names">("nodes", "names"), (all, form) => {
      const texts = all.map(({ name, fields, indent }) =>
        JSON.stringify({ spec: fields, metadata: { name } }, null, indent),
      );
      const items = texts.map((each, i) => (i === 0 ? each : `${all[i]?.between}${each}`)).join("");
      const names = JSON.stringify(all.map(({ name }) => name));
      const body = form === "nodes" ? `{"Pod":{},"Nodes":{"items":[${items}]}}` : `{"Pod":{},"NodeNames":${names}}`;
      const args = readArgs(utf8(body), pathTree([]));

      const first = new Map(
        all.map((each, i) => [each.name, { ...each, text: texts[i] as string }] as const).toReversed(),
      );
      const chosen = (verdict: string) => args.nodes.filter(({ name }) => first.get(name)?.verdict === verdict);
      const reasons = (verdict: string) => new Map(chosen(verdict).map(({ name }) => [name, verdict]));
      const [kept, failed, unresolvable] = [chosen("keep"), reasons("fail"), reasons("unresolvable")];
      const answer = text(filterAnswer({ form, kept, failed, unresolvable }));

      const parsed = JSON.parse(answer) as JsonObject;
      const expected = [...new Set(all.map(({ name }) => name))].filter((name) => first.get(name)?.verdict === "keep");
      const whole = expected.map((name) => first.get(name)?.text as string);
      if (form === "names") expect(parsed["NodeNames"]).toEqual(expected);
      else expect((parsed["Nodes"] as JsonObject)["items"]).toEqual(whole.map((each) => JSON.parse(each) as Json));
      if (form === "nodes")
        expect(answer.startsWith(`{"Nodes":{"metadata":{},"items":[${whole.join(",")}]}`)).toBe(true);
      expect(parsed["FailedNodes"]).toEqual(Object.fromEntries(failed));
      expect(parsed["FailedAndUnresolvableNodes"]).toEqual(Object.fromEntries(unresolvable));
    }),
    { numRuns: 1500 },
  );
});
