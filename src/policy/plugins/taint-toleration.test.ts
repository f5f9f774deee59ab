import { describe, expect, it } from "vitest";
import { scaleScores } from "../rank.ts";
import type { Toleration } from "../views/tolerations.ts";
import { taintToleration } from "./taint-toleration.ts";

const judge = (...tolerations: Partial<Toleration>[]) =>
  taintToleration.prepare(
    {},
    { tolerations: tolerations.map((each) => ({ key: "", operator: "", value: "", effect: "", ...each })) },
    {},
  );

const node = (...texts: string[]) => ({
  on: texts.map((text) => {
    const [, key = "", value = "", effect = ""] = /^(.*)=(.*):(.*)$/.exec(text) ?? [];
    return { key, value, effect };
  }),
});

describe("TaintToleration filters", () => {
  it("refuses a node with a taint that is not tolerated, for good, with one constant reason", () => {
    const refusal = { reason: "node(s) had untolerated taint(s)", unresolvable: true };
    expect(judge().filter?.(node("a=1:NoSchedule"))).toEqual(refusal);
    expect(judge().filter?.(node("b=2:NoExecute"))).toEqual(refusal);
    expect(judge().filter?.(node("a=1:PreferNoSchedule"))).toBeUndefined();
    expect(judge().filter?.(node())).toBeUndefined();
  });

  it.each([
    ["the same value, which is what no operator means", { key: "a", value: "1" }],
    ["the same value", { key: "a", operator: "Equal", value: "1", effect: "NoSchedule" }],
    ["any value", { key: "a", operator: "Exists" }],
    ["everything", { operator: "Exists" }],
  ])("keeps a node when the pod tolerates %s", (_, toleration) => {
    expect(judge(toleration).filter?.(node("a=1:NoSchedule"))).toBeUndefined();
  });

  it.each([
    ["another value", { key: "a", value: "2" }],
    ["another key", { key: "b", operator: "Exists" }],
    ["another effect", { key: "a", operator: "Exists", effect: "NoExecute" }],
    ["values by comparison, which the API server's default does not know", { key: "a", operator: "Gt", value: "0" }],
  ])("refuses it when the pod tolerates %s only", (_, toleration) => {
    expect(judge(toleration).filter?.(node("a=1:NoSchedule"))).toBeDefined();
  });

  it("needs every taint tolerated", () => {
    const { filter } = judge({ key: "a", operator: "Exists" });
    expect(filter?.(node("a=1:NoSchedule", "b=1:NoExecute"))).toBeDefined();
  });
});

describe("TaintToleration scores", () => {
  it("prefers nodes with fewer taints that would rather not have the pod", () => {
    const { score } = judge({ key: "c", operator: "Exists" });
    const nodes = [
      node(),
      node("a=1:PreferNoSchedule"),
      node("a=1:PreferNoSchedule", "b=1:PreferNoSchedule", "d=1:PreferNoSchedule"),
      node("c=1:PreferNoSchedule"),
    ];
    const raw = nodes.map((each) => score?.(each));
    expect(raw).toEqual([0, 1, 3, 0]);
    expect(scaleScores("max-reversed", raw)).toEqual([100, 67, 0, 100]);
  });

  it("scores all nodes 100 where none has such a taint", () => {
    expect(scaleScores("max-reversed", [0, 0])).toEqual([100, 100]);
  });
});
