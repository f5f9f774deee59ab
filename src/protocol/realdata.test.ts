import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hasRealData, realDataFolder } from "../../test/realdata.ts";
import { filterAnswer, filterError, prioritizeAnswer } from "./answer.ts";

import type { Json, JsonObject } from "./json.ts";
import { pathTree } from "./paths.ts";
import { readArgs } from "./read-args.ts";
import { ShapeError } from "./scan.ts";

const file = (name: string) => readFileSync(new URL(`requests/${name}`, realDataFolder), "utf8");
const utf8 = (text: string) => new TextEncoder().encode(text);
const answered = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as Json;
const upstream = hasRealData ? file("r01-k8s-wire-1.37.jsonl").trim().split("\n") : [];
const lines = upstream.map((line) => JSON.parse(line) as JsonObject);
const line = (field: string) => lines.find((each) => Object.hasOwn(each, field)) as JsonObject;
const tree = pathTree(["metadata.annotations", "spec"]);

/** The same JSON with the outermost keys in the casing that old schedulers send. */
function lowerCamel(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.charAt(0).toLowerCase() + key.slice(1), each]),
  );
}

describe.runIf(hasRealData)("what others recorded", () => {
  test("The scheduler's own sample of ExtenderArgs reads the same in every casing of its outer keys", () => {
    const sample = upstream.find((each) => each.includes('"Nodes"') && each.includes('"Pod"')) as string;
    const args = readArgs(utf8(sample), tree);
    expect(args).toMatchObject({
      form: "nodes",
      pod: { metadata: { name: "podname" }, spec: { containers: null }, status: {} },
      nodes: [{ name: "nodename", object: { metadata: { name: "nodename" }, spec: {} } }],
      duplicates: [],
    });
    const camel = readArgs(utf8(JSON.stringify(lowerCamel(JSON.parse(sample) as JsonObject))), tree);
    expect(camel).toEqual(args);
    const lower = readArgs(utf8(sample.toLowerCase()), tree);
    expect([lower.form, lower.pod, lower.nodes.map(({ object }) => object)]).toEqual([
      args.form,
      args.pod,
      args.nodes.map(({ object }) => object),
    ]);
  });

  test("The scheduler's samples of other types are refused as arguments, not misread", () => {
    const others = upstream.filter((each) => !(each.includes('"Nodes"') && each.includes('"Pod"')));
    expect(others.length).toBe(6);
    for (const other of others) expect(() => readArgs(utf8(other), tree)).toThrow(ShapeError);
  });

  test("The scheduler's samples of results have the fields that the answers write", () => {
    const sample = line("FailedNodes");
    const { nodes, form } = readArgs(utf8(JSON.stringify({ Pod: {}, Nodes: sample["Nodes"] })), tree);
    const answer = filterAnswer({
      form,
      kept: nodes,
      failed: new Map([["foo", "bar"]]),
      unresolvable: new Map([["baz", "qux"]]),
    });
    expect(answered(Buffer.concat(answer))).toEqual({ ...sample, NodeNames: null, Error: "" });
    expect(answered(filterError("myerror"))).toMatchObject({ Error: sample["Error"] });
    expect(answered(prioritizeAnswer([{ name: "myhost", score: 1 }]))).toEqual([line("Host")]);
  });

  test("A recorded filter result reads as one node without failures and can be answered again unchanged", () => {
    const [result] = Object.values(JSON.parse(file("r03-simulator-filter-result.json")) as Record<string, JsonObject>);
    expect(result?.["FailedNodes"]).toEqual({});
    const { nodes, form } = readArgs(utf8(JSON.stringify({ Pod: {}, ...result }, null, 1)), tree);
    expect(nodes.map(({ name }) => name)).toEqual(["node-tzjll"]);
    const answer = filterAnswer({ form, kept: nodes, failed: new Map(), unresolvable: new Map() });
    expect(answered(Buffer.concat(answer))).toEqual({ ...result, FailedAndUnresolvableNodes: {} });
  });

  test("A storage extender's request reads, with nodes named like IP addresses", () => {
    const { request } = JSON.parse(file("r07-topolvm-predicate.json")) as { request: Json };
    const args = readArgs(utf8(JSON.stringify(request)), tree);
    expect(args.pod).toMatchObject({ metadata: { annotations: { "capacity.topolvm.io/dc1": "3221225472" } } });
    expect(args.nodes.map(({ object }) => object)).toMatchObject([
      { metadata: { name: "10.1.1.1", annotations: { "capacity.topolvm.io/dc1": "2147483648" } } },
      { metadata: { name: "10.1.1.2", annotations: { "capacity.topolvm.io/dc1": "5368709120" } } },
    ]);
  });
});
