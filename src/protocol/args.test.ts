import { expect, test } from "vitest";

import { pathTree } from "./paths.ts";
import { readArgs } from "./read-args.ts";
import { ShapeError } from "./scan.ts";

const labels = pathTree(["metadata.labels"]);
const utf8 = (text: string) => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const read = (body: string) => readArgs(utf8(body), labels);
const named = (...names: string[]) => names.map((name) => `{"metadata":{"name":"${name}"}}`).join(",");

function problem(body: string | Uint8Array): string {
  try {
    readArgs(typeof body === "string" ? utf8(body) : body, labels);
  } catch (error) {
    expect(error).toBeInstanceOf(ShapeError);
    return (error as ShapeError).message;
  }
  throw new Error("the body was read");
}

test("Whole nodes are read cut down, with their own bytes, and the pod is read whole", () => {
  const node = '{ "metadata": {"uid":"u", "labels":{"a":"b"},"name":"n1"} , "status":{"images":[{}]}}';
  const args = read(
    `{"Pod":{"metadata":{"name":"p"},"spec":{"containers":null}},"Nodes":{"metadata":{},"items":[ ${node} ,${named("n2")}]},"NodeNames":null}`,
  );
  expect(args.form).toBe("nodes");
  expect(args.pod).toEqual({ metadata: { name: "p" }, spec: { containers: null } });
  expect(args.nodes.map(({ name }) => name)).toEqual(["n1", "n2"]);
  expect(args.nodes[0]?.object).toEqual({ metadata: { labels: { a: "b" }, name: "n1" } });
  expect(text(args.nodes[0]?.raw)).toBe(node);
});

test("A node's bytes are a view of the body and not a copy, also of a part of a larger buffer", () => {
  const whole = utf8(`#####{"Pod":{},"Nodes":{"items":[${named("n")}]}}####`);
  const args = readArgs(whole.subarray(5, whole.length - 4), labels);
  expect(args.nodes[0]?.raw?.buffer).toBe(whole.buffer);
  expect(text(args.nodes[0]?.raw)).toBe(named("n"));
});

test("Names are read as nodes that have nothing but a name", () => {
  const args = read('{"Pod":{},"Nodes":null,"NodeNames":["b","a","__proto__"]}');
  expect(args).toEqual({
    form: "names",
    pod: {},
    nodes: ["b", "a", "__proto__"].map((name) => ({ name, object: { metadata: { name } } })),
    duplicates: [],
  });
});

test("Outer keys count in any casing and with escapes, keys of pods and nodes only as they are", () => {
  const args = read(
    `{"pOD":{"SPEC":1},"\\u006eODES":{"ITEMS":[{"Metadata":{"name":"no"},"metadata":{"Name":"no","name":"n","Labels":1}}]},"nodenames":null}`,
  );
  expect(args.pod).toEqual({ SPEC: 1 });
  expect(args.nodes.map(({ object }) => object)).toEqual([{ metadata: { name: "n" } }]);
});

test("Whole nodes win over names when a request carries both", () => {
  const args = read(`{"NodeNames":["other"],"Pod":{},"Nodes":{"items":[${named("n")}]}}`);
  expect([args.form, args.nodes.map(({ name }) => name)]).toEqual(["nodes", ["n"]]);
});

test.each(['{"items":null}', "{}", '{"metadata":{}}', '{"items":[]}'])(
  "Nodes of %s are no nodes, in nodes form",
  (nodes) => {
    expect(read(`{"Pod":{},"Nodes":${nodes}}`)).toEqual({ form: "nodes", pod: {}, nodes: [], duplicates: [] });
  },
);

test("A name that comes again is dropped and told, the first stays", () => {
  const first = '{"metadata":{"name":"a","labels":{"first":"yes"}}}';
  const args = read(`{"Pod":{},"Nodes":{"items":[${first},${named("b", "a", "b", "a")}]}}`);
  expect(args.nodes.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(text(args.nodes[0]?.raw)).toBe(first);
  expect(args.duplicates).toEqual(["a", "b", "a"]);
  expect(read('{"Pod":{},"NodeNames":["x","y","x"]}').duplicates).toEqual(["x"]);
});

test("Of repeated keys the last counts, whatever its casing and whatever the others hold", () => {
  const args = read(
    `{"Pod":5,"Nodes":{"items":[7]},"pod":{"a":1,"a":2},"NODES":{"items":"no","items":[${named("n")}],"Items":[${named("m")}]}}`,
  );
  expect(args.pod).toEqual({ a: 2 });
  expect(args.nodes.map(({ name }) => name)).toEqual(["m"]);
  expect(read(`{"Pod":{},"Nodes":{"items":[${named("n")}]},"nodes":null,"NodeNames":[]}`).form).toBe("names");
});

test("A byte order mark before the body is passed over, elsewhere it is an error", () => {
  expect(read('\ufeff{"Pod":{},"NodeNames":[]}').form).toBe("names");
  expect(problem('{"Pod":\ufeff{},"NodeNames":[]}')).toBe("the body is not valid JSON at byte 7");
  expect(problem('{"Pod":{},"Nodes":{"items":[{"metadata":{"name":\ufeff"n"}}]}}')).toBe(
    "the body is not valid JSON at byte 48",
  );
});

test.each([
  ["", "the body is empty"],
  [" \n", "the body is empty"],
  ["null", "the body must be a JSON object (byte 0)"],
  ["[]", "the body must be a JSON object (byte 0)"],
  [' "x"', "the body must be a JSON object (byte 1)"],
  ["{}", "Pod is missing"],
  ['{"Pod":null,"NodeNames":[]}', "Pod is missing"],
  ['{"Pod":[],"NodeNames":[]}', "Pod must be an object"],
  ['{"Pod":"x","NodeNames":[]}', "Pod must be an object"],
  ['{"Pod":{}}', "Nodes and NodeNames are both missing"],
  ['{"Pod":{},"Nodes":null,"NodeNames":null}', "Nodes and NodeNames are both missing"],
  ['{"Pod":{},"Nodes":[]}', "Nodes must be an object"],
  ['{"Pod":{},"Nodes":{"items":{}}}', "Nodes.items must be an array"],
  [`{"Pod":{},"Nodes":{"items":[${named("n")},null]}}`, "Nodes.items[1] must be an object"],
  ['{"Pod":{},"Nodes":{"items":[[]]}}', "Nodes.items[0] must be an object"],
  [
    `{"Pod":{},"Nodes":{"items":[${named("a", "b", "c")},{"metadata":{"name":1}}]}}`,
    "Nodes.items[3].metadata.name must be a string",
  ],
  ['{"Pod":{},"Nodes":{"items":[{"metadata":null}]}}', "Nodes.items[0].metadata.name must be a string"],
  ['{"Pod":{},"Nodes":{"items":[{}, 5]}}', "Nodes.items[0].metadata.name must be a string"],
  ['{"Pod":{},"NodeNames":"n"}', "NodeNames must be an array"],
  ['{"Pod":{},"NodeNames":["n",null]}', "NodeNames[1] must be a string"],
  ['{"Pod":{},"NodeNames":[]}x', "the body goes on after its JSON object, at byte 25"],
  ['{"Pod":{},"NodeNames":[]} {}', "the body goes on after its JSON object, at byte 26"],
  ['{"Pod":{},"NodeNames":[]', "the body is cut off after byte 24"],
  ['{"Pod":{},"NodeNames":["n', "the body is cut off after byte 25"],
  ['{"Pod":{},"NodeNames":["n\\', "the body is cut off after byte 26"],
  ['{"Pod":{},"NodeNames":[],"x":"\\"}', "the body is cut off after byte 33"],
  ['{"Pod":{},}', "the body is not valid JSON at byte 10"],
  ['{"Pod" {}}', "the body is not valid JSON at byte 7"],
  ['{"Pod":}', "the body is not valid JSON at byte 7"],
  ['{"Pod":{},"Nodes":{"items":[,]}}', "the body is not valid JSON at byte 28"],
  ['{"Pod":{"a":secret},"NodeNames":[]}', "the body is not valid JSON between bytes 7 and 19"],
  [
    '{"Pod":{},"Nodes":{"items":[{"metadata":{"labels":secret}}]}}',
    "Nodes.items[0] is not valid JSON between bytes 28 and 58",
  ],
  ['{"P\\xod":{}}', "the body is not valid JSON between bytes 1 and 8"],
  ['{"P\nod":{}}', "the body is not valid JSON at byte 3"],
])("The body %j is refused: %s", (body, message) => {
  expect(problem(body)).toBe(message);
});

test("A body that ends at any byte is refused as cut off or not valid", () => {
  const body = utf8(`{"Pod":{"a":"\\"é"},"x":[1,{"y":"z"}],"Nodes":{"items":[${named("n")}]},"NodeNames":null}`);
  for (let end = 1; end < body.length; end++) expect(problem(body.subarray(0, end))).toMatch(/cut off|not valid JSON/);
});

test("Keys named like an object's built-in members change no prototype", () => {
  const args = read(
    '{"__proto__":{"polluted":1},"constructor":null,"Pod":{"__proto__":{"polluted":1}},"Nodes":{"items":[{"__proto__":{"polluted":1},"metadata":{"name":"__proto__","labels":{"__proto__":"x","constructor":"y"}}}]}}',
  );
  expect(Object.getPrototypeOf(args.pod)).toBe(Object.prototype);
  expect(Object.keys(args.pod)).toEqual(["__proto__"]);
  expect(JSON.stringify(args.nodes[0]?.object)).toBe(
    '{"metadata":{"name":"__proto__","labels":{"__proto__":"x","constructor":"y"}}}',
  );
  expect("polluted" in {}).toBe(false);
});

test.each([
  ["lists", "[", "1", "]"],
  ["objects", '{"a":', "1", "}"],
])("Deep nesting of %s is read without exhausting the stack", (_, open, innermost, close) => {
  const levels = 200_000;
  const deep = open.repeat(levels) + innermost + close.repeat(levels);
  const node = `{"status":${deep},"metadata":{"name":"n","labels":${deep}}}`;
  const args = read(`{"skipped":${deep},"Pod":{"spec":${deep}},"Nodes":{"metadata":${deep},"items":[${node}]}}`);
  expect(args.nodes[0]?.name).toBe("n");
  expect(problem(`{"Pod":{},"skipped":${open.repeat(levels)}`)).toMatch(/cut off/);
});
