import { describe, expect, it } from "vitest";
import { preemptAnswer, readPreemptArgs } from "../protocol/preempt.ts";
import { gpuNode, gpuPod, type PodSketch, podObject } from "./gpu-fixture.ts";
import { placedPod } from "./placed.ts";
import { chooseVictims, type Scene } from "./victims.ts";
import { budgetFor, sceneOf } from "./victims-fixture.ts";

const two = gpuNode("n", [2, 20]);
const on = (uid: string, gpu: number, device: number, more: Partial<PodSketch> = {}) =>
  gpuPod({ uid, gpu, node: "n", device, ...more });

describe("a profile without devices", () => {
  const scene = (fits: Scene["fits"]): Scene => ({
    pods: () => [on("a", 1, 0, { priority: 3 }), on("b", 1, 0, { priority: 2 }), on("c", 1, 0, { priority: 1 })],
    budgets: [],
    fits,
  });
  const ask = (fits: Scene["fits"], own: string[]) => {
    const victims = new Map([["n", own]]);
    return chooseVictims({ pod: podObject({ uid: "p", priority: 100 }), victims }, scene(fits)).get("n");
  };

  it("keeps kube-scheduler's victims on nodes that it would keep, and leaves the others out", () => {
    expect(ask(() => true, ["b"])?.Pods).toEqual([{ UID: "b" }]);
    expect(ask(() => false, ["b"])).toBeUndefined();
  });

  it("spares the more important pods one by one where some have to go", () => {
    expect(ask((_, without) => without.size >= 2, ["b"])?.Pods).toEqual([{ UID: "b" }, { UID: "c" }]);
  });
});

describe("a filter that needs any pod gone", () => {
  it("takes one that is terminating already, however important it is", () => {
    const pods = [on("a", 1, 0, { priority: 9, terminating: true }), on("b", 1, 0), on("c", 1, 0)];
    const scene: Scene = { pods: () => pods, budgets: [], fits: (_, without) => without.size > 0 };
    const victims = new Map([["n", []]]);
    const found = chooseVictims({ pod: podObject({ uid: "p", priority: 100 }), victims }, scene).get("n");
    expect(found?.Pods).toEqual([{ UID: "a" }]);
  });
});

describe("a filter that does not depend on the sum that a device gives back", () => {
  it("still has the last word: what it refuses is not answered", () => {
    const web = { web: "" };
    const pods = [
      on("a", 5, 0, { priority: 2, labels: web }),
      on("b", 5, 0, { priority: 1, labels: web }),
      on("c", 5, 0, { priority: 1 }),
    ];
    const scene: Scene = {
      pods: () => pods,
      budgets: [budgetFor("web", 1)],
      fits: (_, without) => without.has("a") && without.size >= 2,
      devices: () => [new Map(pods.map(({ uid }) => [uid, 5n]))],
    };
    const victims = new Map([["n", []]]);
    const found = chooseVictims({ pod: podObject({ uid: "p", priority: 100 }), victims }, scene).get("n");
    expect(found?.Pods).toEqual([{ UID: "a" }, { UID: "c" }]);
  });
});

describe("preempt from body to answer", () => {
  const pods = [on("a", 10, 0), on("b", 10, 1, { priority: 1 })];
  const answerTo = (text: string) => {
    const args = readPreemptArgs(new TextEncoder().encode(text));
    const found = chooseVictims(args, sceneOf(placedPod(args.pod), { node: two, pods }));
    return new TextDecoder().decode(preemptAnswer(found));
  };
  const pod = JSON.stringify(podObject({ uid: "p", gpu: 10, priority: 100 }));

  it("answers both forms alike, always with UIDs", () => {
    const expected = '{"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":"a"}],"NumPDBViolations":0}}}';
    const whole = JSON.stringify(pods[0]?.object);
    expect(answerTo(`{"Pod":${pod},"NodeNameToVictims":{"n":{"Pods":[${whole}],"NumPDBViolations":0}}}`)).toBe(
      expected,
    );
    expect(answerTo(`{"Pod":${pod},"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":"a"}]}}}`)).toBe(expected);
  });

  it("adds the victims that are needed when the dry run left them out (k/k #139270)", () => {
    for (const victims of ["null", "{}", '{"Pods":null}', '{"Pods":[]}']) {
      expect(answerTo(`{"Pod":${pod},"NodeNameToMetaVictims":{"n":${victims}}}`)).toContain('"Pods":[{"UID":"a"}]');
    }
  });

  it("writes neither null nor an empty list, whatever it was asked", () => {
    for (const text of [`{"Pod":${pod}}`, `{"Pod":${pod},"NodeNameToVictims":{"x":null}}`, '{"Pod":{}}']) {
      expect(answerTo(text)).toBe('{"NodeNameToMetaVictims":{}}');
    }
  });
});
