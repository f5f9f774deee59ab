import { describe, expect, it } from "vitest";
import { gpuClaim, gpuNode, gpuPod, type PodSketch, podObject } from "./gpu-fixture.ts";
import { placedPod } from "./placed.ts";
import { chooseVictims } from "./victims.ts";
import { budgetFor, type Setting, sceneOf } from "./victims-fixture.ts";

const two = gpuNode("n", [2, 20]);
const on = (uid: string, gpu: number, device: number, more: Partial<PodSketch> = {}) =>
  gpuPod({ uid, gpu, node: "n", device, ...more });

interface Question {
  readonly own?: readonly string[];
  readonly gpu?: number;
  readonly spec?: PodSketch["spec"];
}

/** Victims of node `n` and violations, for a pod of priority 100 that asks for 10. */
function preempt(setting: Partial<Setting>, { own = [], gpu = 10, spec = {} }: Question = {}) {
  const object = podObject({ uid: "p", gpu, priority: 100, spec });
  const scene = sceneOf(placedPod(object), { node: two, pods: [], ...setting });
  const found = chooseVictims({ pod: object, victims: new Map([["n", own]]) }, scene).get("n");
  return found && { uids: found.Pods.map(({ UID }) => UID), violations: found.NumPDBViolations };
}

describe("the victims of a node", () => {
  it("are kube-scheduler's own when those free a device", () => {
    const pods = [on("a", 10, 0), on("b", 10, 1)];
    expect(preempt({ pods }, { own: ["b"] })).toEqual({ uids: ["b"], violations: 0 });
  });

  it("are kube-scheduler's own and those that one device needs beyond", () => {
    const pods = [on("a", 5, 0), on("b", 5, 0), on("c", 5, 1), on("d", 5, 1, { priority: 1 })];
    expect(preempt({ pods }, { own: ["a"] })?.uids).toEqual(["a", "b"]);
  });

  it("free one device, not a bit of each", () => {
    const pods = [on("a", 4, 0), on("b", 4, 1), on("c", 5, 0, { priority: 3 }), on("d", 5, 1, { priority: 2 })];
    expect(preempt({ pods })?.uids).toEqual(["d", "b"]);
  });

  it("violate as few budgets as possible, even if that costs higher priorities and more pods", () => {
    const pods = [
      on("a", 10, 0, { labels: { web: "" } }),
      on("b", 5, 1, { priority: 9 }),
      on("c", 5, 1, { priority: 9 }),
    ];
    expect(preempt({ pods, budgets: [budgetFor("web", 0)] })).toEqual({ uids: ["b", "c"], violations: 0 });
    expect(preempt({ pods, budgets: [budgetFor("web", 1)] })).toEqual({ uids: ["a"], violations: 0 });
    expect(preempt({ pods: pods.slice(0, 1), node: gpuNode("n", [1, 10]), budgets: [budgetFor("web", 0)] })).toEqual({
      uids: ["a"],
      violations: 1,
    });
  });

  it("have priorities as low as possible, even if they are more", () => {
    const pods = [on("a", 10, 0, { priority: 5 }), ...["b", "c", "d"].map((uid) => on(uid, 3, 1, { priority: 4 }))];
    expect(preempt({ pods })?.uids).toEqual(["b", "c", "d"]);
  });

  it("are as few as possible among those of the same priority", () => {
    const pods = [on("a", 3, 0), on("b", 3, 0), on("c", 4, 0), on("d", 10, 1)];
    expect(preempt({ pods })?.uids).toEqual(["d"]);
    const many = [on("big", 8, 0, { started: 1 }), ...["b", "c"].map((uid) => on(uid, 1, 0, { started: 9 }))];
    expect(preempt({ pods: [...many, on("x", 10, 1, { priority: 100 })] }, { gpu: 8 })?.uids).toEqual(["big"]);
  });

  it("started as late as possible if all else is the same", () => {
    const pods = [on("a", 5, 0, { started: 1 }), on("b", 5, 0, { started: 3 }), on("c", 10, 1, { priority: 50 })];
    expect(preempt({ pods }, { gpu: 5 })?.uids).toEqual(["b"]);
  });

  it("are named by falling priority, whoever chose them, for kube-scheduler takes the first for the highest", () => {
    const pods = [on("a", 4, 0, { priority: 1 }), on("b", 3, 0, { priority: 7 }), on("c", 3, 0, { priority: 4 })];
    expect(preempt({ pods, node: gpuNode("n", [1, 10]) }, { own: ["a"] })?.uids).toEqual(["b", "c", "a"]);
  });

  it("are never pods of the same or a higher priority, not even kube-scheduler's own", () => {
    const pods = [on("same", 10, 0, { priority: 100 }), on("higher", 10, 1, { priority: 101 })];
    expect(preempt({ pods }, { own: ["same", "higher"] })).toBeUndefined();
    expect(preempt({ pods: [...pods, on("low", 10, 1)] }, { own: ["same"] })).toBeUndefined();
  });

  it("are never pods that are not on the node, that are gone, or that have ended", () => {
    const pods = [
      on("a", 10, 0),
      on("ended", 10, 1, { phase: "Failed", priority: 1 }),
      gpuPod({ uid: "m", node: "m" }),
    ];
    const full = [...pods, on("b", 10, 1, { priority: 100 })];
    expect(preempt({ pods: full }, { own: ["gone", "ended", "m", "a"] })?.uids).toEqual(["a"]);
  });

  it("are pods that are terminating already before any other, for that costs nobody anything", () => {
    const pods = [on("a", 10, 0, { priority: 50, terminating: true, labels: { web: "" } }), on("b", 10, 1)];
    expect(preempt({ pods, budgets: [budgetFor("web", 0)] })).toEqual({ uids: ["a"], violations: 0 });
  });

  it("are a pod without annotations too, which gives back its request on every device", () => {
    const pods = [
      gpuPod({ uid: "stray", gpu: 5, node: "n" }),
      on("a", 5, 0, { priority: 3 }),
      on("b", 5, 1, { priority: 9 }),
    ];
    expect(preempt({ pods }, { gpu: 5 })?.uids).toEqual(["stray"]);
    expect(preempt({ pods })?.uids).toEqual(["a", "stray"]);
  });
});

describe("kube-scheduler's own victims", () => {
  const parts = ["a", "b", "c", "d"].map((uid, index) =>
    on(uid, 5, index >> 1, { started: [0, 10, 5, 20][index] ?? 0 }),
  );

  it("stay victims although others would be enough, while nothing says that the node has room without them", () => {
    expect(preempt({ pods: parts }, { own: ["b", "d"] })?.uids).toEqual(["c", "b", "d"]);
  });

  it("are spared when the node is known to have room without them", () => {
    const room = (without: ReadonlySet<string>) => without.size >= 2;
    expect(preempt({ pods: parts, room }, { own: ["b", "d"] })?.uids).toEqual(["c", "d"]);
    const never = () => false;
    expect(preempt({ pods: parts, room: never }, { own: ["b", "d"] })?.uids).toEqual(["c", "b", "d"]);
  });
});

describe("a node is left out", () => {
  it("when it is not known", () => {
    const object = podObject({ uid: "p", gpu: 10, priority: 100 });
    const scene = sceneOf(placedPod(object), { node: two, pods: [on("a", 10, 0)] });
    expect(chooseVictims({ pod: object, victims: new Map([["other", ["a"]]]) }, scene).size).toBe(0);
  });

  it("when even evicting every pod of lower priority does not help", () => {
    expect(preempt({ pods: [on("a", 10, 0), on("b", 10, 1)] }, { gpu: 11, own: ["a"] })).toBeUndefined();
    const pods = [on("a", 10, 0, { priority: 100 }), on("b", 5, 1)];
    expect(preempt({ pods, claims: [gpuClaim("q", 1, 5)] }, { own: ["b"] })).toBeUndefined();
  });

  it("when it needs no victim at all: an empty list would end the cycle", () => {
    expect(preempt({ pods: [on("a", 5, 0)] })).toBeUndefined();
    expect(preempt({ pods: [on("a", 5, 0)] }, { own: ["gone"] })).toBeUndefined();
  });

  it("when the pod evicts nobody by its own preemptionPolicy", () => {
    const pods = [on("a", 10, 0), on("b", 10, 1)];
    expect(preempt({ pods }, { own: ["a"], spec: { preemptionPolicy: "Never" } })).toBeUndefined();
  });

  it("when the pod cannot have a device anywhere, so that nothing is evicted in vain", () => {
    expect(preempt({ pods: [on("a", 10, 0)] }, { own: ["a"], gpu: 0 })).toBeUndefined();
  });
});
