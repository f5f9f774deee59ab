import { describe, expect, it } from "vitest";
import { type Candidate, candidatesOn, compareCosts, costOf } from "./candidate.ts";
import { disruptionBudget } from "./disruption.ts";
import { gpuPod, type PodSketch } from "./gpu-fixture.ts";

const preemptor = { uid: "p", priority: 10 };
const on = (...sketches: PodSketch[]) => candidatesOn(sketches.map(gpuPod), preemptor, []);

const candidate = (more: Partial<Candidate>): Candidate => ({
  ...{ uid: "a", priority: 0, started: 0, leaving: false, budgets: [] },
  ...more,
});

const cheaper = (left: Partial<Candidate>[], right: Partial<Candidate>[], allowed: number[] = []) =>
  compareCosts(costOf(left.map(candidate), allowed), costOf(right.map(candidate), allowed));

describe("the pods that may be evicted", () => {
  it("have a lower priority, and are neither the pod itself nor in a terminal phase", () => {
    const found = on(
      { uid: "low", priority: 9 },
      { uid: "same", priority: 10 },
      { uid: "high", priority: 11 },
      { uid: "done", priority: 1, phase: "Succeeded" },
      { uid: "p", priority: 1 },
      { uid: "none" },
      { uid: "negative", priority: -5 },
    );
    expect(found.map(({ uid }) => uid)).toEqual(["low", "none", "negative"]);
  });

  it("stand in falling importance: priority, then the earlier start, then those that have not started", () => {
    const found = on({ uid: "a" }, { uid: "b", started: 20 }, { uid: "c", started: 10 }, { uid: "d", priority: 1 });
    expect(found.map(({ uid }) => uid)).toEqual(["d", "c", "b", "a"]);
  });

  it("know the budgets that cover them", () => {
    const cover = (app: string) =>
      disruptionBudget({ metadata: { namespace: "default" }, spec: { selector: { matchLabels: { app } } } });
    const pods = [gpuPod({ uid: "a", labels: { app: "x" } }), gpuPod({ uid: "b" })];
    const found = candidatesOn(pods, preemptor, [cover("y"), cover("x")]);
    expect(found.map(({ budgets }) => budgets)).toEqual([[1], []]);
  });
});

describe("the cheaper set of victims", () => {
  it("is the one that violates fewer budgets, before all", () => {
    expect(cheaper([{ priority: 9 }, { priority: 9 }], [{ budgets: [0] }], [0])).toBeLessThan(0);
  });

  it("then has the lower highest priority", () => {
    expect(cheaper([{ priority: 1 }, { priority: 1 }, { priority: 1 }], [{ priority: 2 }])).toBeLessThan(0);
  });

  it("then the lower sum of priorities, to which every victim adds, also with a negative priority", () => {
    expect(cheaper([{ priority: 2 }, { priority: 0 }], [{ priority: 2 }, { priority: 1 }])).toBeLessThan(0);
    expect(cheaper([{ priority: -5 }], [{ priority: -5 }, { priority: -5 }])).toBeLessThan(0);
  });

  it("then fewer pods, also when none adds to the sum", () => {
    const lowest = { priority: -(2 ** 31) };
    expect(cheaper([lowest], [lowest, lowest])).toBeLessThan(0);
  });

  it("then the one whose most important victim started later", () => {
    expect(cheaper([{ started: 20 }, { started: 30 }], [{ started: 10 }, { started: 40 }])).toBeLessThan(0);
    expect(cheaper([{ started: Number.POSITIVE_INFINITY }], [{ started: 40 }])).toBeLessThan(0);
    expect(cheaper([{ started: Number.POSITIVE_INFINITY }], [{ started: Number.POSITIVE_INFINITY }])).toBe(0);
  });

  it("pays nothing for pods that are terminating already", () => {
    expect(cheaper([{ leaving: true, priority: 9, budgets: [0] }], [], [0])).toBe(0);
    expect(cheaper([{ leaving: true, priority: 9 }], [{ priority: 0 }])).toBeLessThan(0);
  });
});
