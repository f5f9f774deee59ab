import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../protocol/json.ts";
import { cutDown, pathTree } from "../protocol/paths.ts";
import { BUDGET_PATHS, countViolations, disruptionBudget } from "./disruption.ts";
import { gpuPod } from "./gpu-fixture.ts";

const web = gpuPod({ uid: "1", labels: { app: "web" } });

function budget(selector: Json | undefined, status: JsonObject = { disruptionsAllowed: 1 }, namespace = "default") {
  const object = { metadata: { name: "b", namespace }, spec: { ...(selector !== undefined && { selector }) }, status };
  return disruptionBudget(cutDown(object, pathTree(BUDGET_PATHS)));
}

const forWeb = { matchLabels: { app: "web" } };

describe("a PodDisruptionBudget", () => {
  it("covers the pods of its namespace that its selector matches", () => {
    expect(budget(forWeb).covers(web)).toBe(true);
    expect(budget({ matchLabels: { app: "api" } }).covers(web)).toBe(false);
    expect(budget(forWeb, {}, "other").covers(web)).toBe(false);
  });

  it("covers nothing with a selector that is empty, absent or not valid, as kube-scheduler has it", () => {
    for (const selector of [undefined, null, {}, { matchLabels: {} }, { matchLabels: 5 }]) {
      expect(budget(selector).covers(web)).toBe(false);
    }
  });

  it("covers no pod without labels, and none that is accounted for as disrupted", () => {
    const missing = { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] };
    expect(budget(missing).covers(gpuPod({ uid: "1" }))).toBe(false);
    expect(budget(missing).covers(gpuPod({ uid: "1", labels: { tier: "x" } }))).toBe(true);
    expect(budget(forWeb, { disruptedPods: { "pod-1": "2024-01-01T00:00:00Z" } }).covers(web)).toBe(false);
  });

  it("allows what its status says, and nothing where that says nothing", () => {
    expect(budget(forWeb).allowed).toBe(1);
    expect(budget(forWeb, {}).allowed).toBe(0);
    expect(disruptionBudget({}).allowed).toBe(0);
  });
});

describe("violations of budgets", () => {
  it("begin when a budget is used up", () => {
    expect(countViolations([[0], [0], [0]], [2])).toBe(1);
    expect(countViolations([[0], [], [1]], [0, 1])).toBe(1);
    expect(countViolations([], [0])).toBe(0);
  });

  it("count once for a pod, which takes from the budgets after a violated one nothing", () => {
    expect(countViolations([[0, 1]], [0, 0])).toBe(1);
    expect(countViolations([[0, 1], [1]], [0, 1])).toBe(1);
  });
});
