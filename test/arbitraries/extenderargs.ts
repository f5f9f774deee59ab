import fc from "fast-check";
import { pathTree } from "../../src/protocol/paths.ts";
import { type JsonText, jsonArray, jsonScalar, jsonString, jsonValue, member, objectWith, spelled } from "./json.ts";

/** A path tree as plugins might want it, and stranger ones. */
export const wantedTree = fc
  .subarray([
    ...["metadata.labels", "metadata.annotations", "spec.taints", "status.allocatable", "status.allocatable.cpu"],
    ...["status", "a", "é", "__proto__.a", "metadata.__proto__", "spec.constructor.name"],
    ...["metadata.labels[name,é,__proto__]", "metadata.annotations[]", "status.allocatable[cpu,name]"],
    ...["spec.taints[].name", "metadata.labels[].é", "status.allocatable[].cpu", "a[].a"],
  ])
  .map(pathTree);

const value = fc.oneof(jsonValue, objectWith([], [member(spelled("cpu"), jsonScalar)]));
const name = fc.oneof(jsonString, fc.constantFrom('"n1"', '"n2"', '"n\\u0031"', '"__proto__"'));
const metadata = objectWith(
  [member(spelled("name"), name)],
  [member(spelled("labels"), value), member(spelled("annotations"), value)],
);
const spec = objectWith([], [member(spelled("taints"), value), member(spelled("unschedulable"), jsonScalar)]);
const status = objectWith([], [member(spelled("allocatable"), value), member(spelled("images"), jsonArray(value))]);

/** A node as JSON text; now and then it has no readable name. */
export const nodeText: JsonText = objectWith(
  [member(spelled("metadata"), metadata)],
  [member(spelled("spec"), spec), member(spelled("status"), status)],
);

/** A top-level member of ExtenderArgs. */
export interface OuterMember {
  /** `Pod`, `Nodes`, `NodeNames`, or a key that nobody knows. */
  readonly key: string;
  readonly value: string;
  /** The member as it stands in the body, its key in some casing. */
  readonly text: string;
}

/** The key in any casing. */
export function cased(key: string): fc.Arbitrary<string> {
  return fc
    .array(fc.boolean(), { minLength: key.length, maxLength: key.length })
    .map((upper) => [...key].map((unit, i) => (upper[i] ? unit.toUpperCase() : unit.toLowerCase())).join(""));
}

function outer(key: string, values: JsonText): fc.Arbitrary<OuterMember> {
  const text = cased(key).chain(spelled);
  return fc.tuple(values, text).map(([value, spelling]) => ({ key, value, text: `${spelling}: ${value}` }));
}

const items = fc.oneof({ weight: 8, arbitrary: jsonArray(nodeText) }, { weight: 1, arbitrary: jsonValue });
const nodeList = cased("items")
  .chain(spelled)
  .chain((key) => fc.tuple(jsonValue, items).map(([other, list]) => `{"metadata":${other}, ${key}:${list}}`));

const pod = outer("Pod", objectWith([], []));
const nodes = outer("Nodes", nodeList);
const nodeNames = outer("NodeNames", jsonArray(name));
const anything = fc.constantFrom("Pod", "Nodes", "NodeNames", "Other").chain((key) => outer(key, jsonValue));

/** The members of a body, mostly with a pod and a list, in any order, some twice or of another type. */
export const outerMembers: fc.Arbitrary<OuterMember[]> = fc
  .tuple(pod, fc.oneof(nodes, nodeNames), fc.array(fc.oneof(pod, nodes, nodeNames, anything), { maxLength: 2 }))
  .chain(([first, second, more]) => fc.shuffledSubarray([first, second, ...more], { minLength: more.length + 1 }));
