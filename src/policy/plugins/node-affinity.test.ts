import { describe, expect, it } from "vitest";
import { scaleScores } from "../rank.ts";
import type { NodeAffinityRules, NodeTerm } from "../views/node-affinity.ts";
import { nodeAffinity } from "./node-affinity.ts";

function judge(rules: Partial<NodeAffinityRules>, args: unknown = {}) {
  return nodeAffinity.prepare(
    nodeAffinity.args.parse(args),
    { rules: { nodeSelector: {}, preferred: [], ...rules } },
    {},
  );
}

const node = (labels: Record<string, string>, name = "n") => ({ labels, name });
const zoneIn = (...values: string[]): NodeTerm => ({
  matchExpressions: [{ key: "zone", operator: "In", values }],
  matchFields: [],
});
const named = (...names: string[]): NodeTerm => ({
  matchExpressions: [],
  matchFields: names.map((name) => ({ key: "metadata.name", operator: "In", values: [name] })),
});
const required = (term: NodeTerm) => ({
  addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
});
const OTHER = { reason: "node(s) didn't match Pod's node affinity/selector", unresolvable: true };

describe("NodeAffinity filters", () => {
  it("keeps nodes with every label of the pod's nodeSelector, and refuses the others for good", () => {
    const { filter } = judge({ nodeSelector: { zone: "a", disk: "ssd" } });
    expect(filter?.(node({ zone: "a", disk: "ssd", more: "x" }))).toBeUndefined();
    expect(filter?.(node({ zone: "a" }))).toEqual(OTHER);
    expect(filter?.(node({ zone: "a", disk: "hdd" }))).toEqual(OTHER);
  });

  it("needs one of the required terms, beside the nodeSelector", () => {
    const { filter } = judge({ nodeSelector: { disk: "ssd" }, required: [zoneIn("a"), zoneIn("b")] });
    expect(filter?.(node({ zone: "b", disk: "ssd" }))).toBeUndefined();
    expect(filter?.(node({ zone: "c", disk: "ssd" }))).toEqual(OTHER);
    expect(filter?.(node({ zone: "b" }))).toEqual(OTHER);
  });

  it("keeps no node for required terms that are empty", () => {
    expect(judge({ required: [] }).filter?.(node({}))).toEqual(OTHER);
    expect(judge({ required: [{ matchExpressions: [], matchFields: [] }] }).filter?.(node({}))).toEqual(OTHER);
  });

  it("takes terms that name nodes, as pods of DaemonSets have them", () => {
    const { filter } = judge({ required: [named("n"), named("m")] });
    expect(filter?.(node({}, "m"))).toBeUndefined();
    expect(filter?.(node({}, "o"))).toEqual(OTHER);
  });

  it("calls names that exclude each other a conflict of the pod", () => {
    const conflict = { reason: "pod affinity terms conflict", unresolvable: true };
    expect(judge({ required: [named("a", "b")] }).filter?.(node({}, "a"))).toEqual(conflict);
    expect(judge({ required: [named("a", "b"), named("a")] }).filter?.(node({}, "a"))).toBeUndefined();
    expect(judge({ required: [named("a", "a")] }).filter?.(node({}, "a"))).toBeUndefined();
  });

  it("confines all pods to the nodes of addedAffinity, with a reason of its own", () => {
    const enforced = { reason: "node(s) didn't match scheduler-enforced node affinity", unresolvable: true };
    const { filter } = judge({}, required(zoneIn("a")));
    expect(filter?.(node({ zone: "a" }))).toBeUndefined();
    expect(filter?.(node({ zone: "b" }))).toEqual(enforced);
    expect(judge({ nodeSelector: { zone: "b" } }, required(zoneIn("a"))).filter?.(node({ zone: "a" }))).toEqual(OTHER);
  });

  it("has nothing to say of a pod that asks for nothing", () => {
    expect(judge({})).toEqual({});
  });
});

describe("NodeAffinity scores", () => {
  const preferred = [
    { weight: 10, preference: zoneIn("a") },
    { weight: 5, preference: zoneIn("a", "b") },
    { weight: 0, preference: zoneIn("c") },
    { weight: 7, preference: { matchExpressions: [], matchFields: [] } },
  ];

  it("adds up the weights of the preferred terms that match", () => {
    const { score } = judge({ preferred });
    const raw = ["a", "b", "c"].map((zone) => score?.(node({ zone })));
    expect(raw).toEqual([15, 5, 0]);
    expect(scaleScores("max", raw)).toEqual([100, 33, 0]);
  });

  it("adds the terms of addedAffinity", () => {
    const addedAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 3, preference: zoneIn("b") }],
    };
    expect(judge({}, { addedAffinity }).score?.(node({ zone: "b" }))).toBe(3);
    expect(judge({ preferred }, { addedAffinity }).score?.(node({ zone: "b" }))).toBe(8);
  });
});

it("refuses an addedAffinity that could never match when it is loaded", () => {
  const expression = (operator: string, values: string[]) =>
    required({ matchExpressions: [{ key: "cores", operator, values }], matchFields: [] });
  expect(nodeAffinity.args.safeParse(expression("Gt", ["8"])).success).toBe(true);
  for (const [operator, values] of [
    ["Gt", ["many"]],
    ["In", []],
    ["Exists", ["x"]],
    ["Near", ["1"]],
  ] as const) {
    expect(nodeAffinity.args.safeParse(expression(operator, [...values])).success).toBe(false);
  }
});
