import { expect, test } from "vitest";
import type { JsonObject } from "./json.ts";
import { cutDown, pathTree } from "./paths.ts";

const node = (text: string) => JSON.parse(text) as JsonObject;

test("An object keeps its name and the wanted fields, and nothing else", () => {
  const object = node(
    '{"metadata":{"name":"n","uid":"u","labels":{"a":"b"}},"spec":{"taints":[]},"status":{"images":[1],"allocatable":{"cpu":"1"}}}',
  );
  expect(cutDown(object, pathTree(["metadata.labels", "status.allocatable"]))).toEqual({
    metadata: { name: "n", labels: { a: "b" } },
    status: { allocatable: { cpu: "1" } },
  });
});

test("Without any wanted path the name alone is kept", () => {
  expect(cutDown(node('{"metadata":{"name":"n","uid":"u"},"spec":{}}'), pathTree([]))).toEqual({
    metadata: { name: "n" },
  });
});

test.each([
  ["null", '{"metadata":{"name":"n"},"spec":null}', { metadata: { name: "n" }, spec: null }],
  ["a list", '{"metadata":{"name":"n"},"spec":[{"taints":1}]}', { metadata: { name: "n" }, spec: [{ taints: 1 }] }],
  ["a scalar", '{"metadata":"n","spec":7}', { metadata: "n", spec: 7 }],
  ["absent", '{"metadata":{}}', { metadata: {} }],
  ["an empty object", '{"metadata":{"name":"n"},"spec":{}}', { metadata: { name: "n" }, spec: {} }],
])("A parent of a wanted field that is %s stays as it is", (_, text, expected) => {
  expect(cutDown(node(text), pathTree(["spec.taints"]))).toEqual(expected);
});

test("A wanted value is kept whole, whatever its type", () => {
  const object = node('{"metadata":{"name":"n","labels":[]},"spec":{"taints":null}}');
  expect(cutDown(object, pathTree(["metadata.labels", "spec.taints"]))).toEqual(object);
});

test("A path to a value wins over paths into it, in either order", () => {
  const object = node('{"metadata":{"name":"n","uid":"u"},"spec":{"a":{"b":1,"c":2}}}');
  for (const paths of [
    ["metadata", "spec.a", "spec.a.b"],
    ["spec.a.b", "spec.a", "metadata"],
  ]) {
    expect(cutDown(object, pathTree(paths))).toEqual(object);
  }
});

test("Paths that share a parent are kept together", () => {
  const object = node('{"metadata":{"name":"n"},"spec":{"a":{"b":1,"c":2,"d":3},"e":4}}');
  expect(cutDown(object, pathTree(["spec.a.b", "spec.a.d"]))).toEqual({
    metadata: { name: "n" },
    spec: { a: { b: 1, d: 3 } },
  });
});

test("Fields named like an object's built-in members are own fields or nothing", () => {
  const tree = pathTree(["__proto__.polluted", "constructor.name", "toString", "metadata.__proto__"]);
  expect(cutDown({ metadata: { name: "n" } }, tree)).toEqual({ metadata: { name: "n" } });
  const cut = cutDown(node('{"__proto__":{"polluted":1,"more":2},"constructor":{"name":"c","more":2}}'), tree);
  expect(JSON.stringify(cut)).toBe('{"__proto__":{"polluted":1},"constructor":{"name":"c"}}');
  expect(Object.getPrototypeOf(cut)).toBe(Object.prototype);
  expect("polluted" in {}).toBe(false);
});

test("Of each item of a list only the wanted fields are kept, and items that are no objects stay as they are", () => {
  const tree = pathTree(["spec.containers[].name", "spec.containers[].resources.limits"]);
  const kept = [{ name: "a", resources: { limits: { cpu: "1" } } }, {}, null, [{ env: 1 }], 7];
  const object = node(
    '{"metadata":{"name":"n"},"spec":{"containers":[{"env":[1],"name":"a","resources":{"limits":{"cpu":"1"},"claims":[]}},{"env":[]},null,[{"env":1}],7]}}',
  );
  expect(cutDown(object, tree)).toEqual({ metadata: { name: "n" }, spec: { containers: kept } });
});

test("What is no list though a list is wanted stays as it is", () => {
  const object = node('{"metadata":{"name":"n"},"spec":{"containers":{"name":"a","env":[]}}}');
  expect(cutDown(object, pathTree(["spec.containers[].name"]))).toEqual(object);
});

test.each([
  ["a whole list and fields of its items", ["spec.a[].b", "spec.a"]],
  ["fields of a list's items and the whole list", ["spec.a", "spec.a[].b"]],
  ["a field of a list's items and of an object", ["spec.a[].b", "spec.a.b"]],
])("%s make it wanted whole", (_, paths) => {
  for (const text of ['[{"b":1,"c":2}]', '{"b":1,"c":2}']) {
    const object = node(`{"metadata":{"name":"n"},"spec":{"a":${text}}}`);
    expect(cutDown(object, pathTree(paths))).toEqual(object);
  }
});
