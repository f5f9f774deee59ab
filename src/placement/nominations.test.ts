import { describe, expect, it } from "vitest";
import { gpuClaim, gpuNode, gpuPod, type PodSketch } from "./gpu-fixture.ts";
import { usageOf, type Viewpoint } from "./usage.ts";

const node = gpuNode("n", [2, 20]);
const bound = (uid: string, gpu: number, device: number, more: Partial<PodSketch> = {}) =>
  gpuPod({ uid, gpu, node: "n", device, ...more });
const nominee = (uid: string, gpu: number, more: Partial<PodSketch> = {}) =>
  gpuPod({ uid, gpu, nominated: "n", priority: 100, phase: "Pending", ...more });

function used(presence: Partial<Parameters<typeof usageOf>[1]>, viewpoint?: Viewpoint): number[] {
  const usage = usageOf(node, { pods: [], claims: [], ...presence }, viewpoint);
  return node.devices.map(({ id }) => Number(usage.used(id)));
}

describe("a pod nominated to a node", () => {
  it("holds its request on the device that would be chosen for it", () => {
    expect(used({ pods: [bound("a", 5, 1)], nominated: [nominee("p", 4)] })).toEqual([0, 9]);
  });

  it("holds the device that its terminating victims leave, so that nobody takes it meanwhile", () => {
    const pods = [bound("strong", 6, 0, { priority: 100 }), bound("victim", 10, 1, { terminating: true })];
    const presence = { pods, nominated: [nominee("p", 8)] };
    expect(used(presence)).toEqual([6, 18]);
    expect(used({ ...presence, pods: pods.slice(0, 1) })).toEqual([6, 8]);
  });

  it("holds the best fit of those that terminating pods leave", () => {
    const pods = [
      bound("strong", 2, 1, { priority: 100 }),
      bound("one", 10, 0, { terminating: true }),
      bound("two", 8, 1, { terminating: true }),
    ];
    expect(used({ pods, nominated: [nominee("p", 8)] })).toEqual([10, 18]);
  });

  it("holds the emptiest device that evictions could free enough while its victims are not marked yet", () => {
    const pods = [
      bound("strong", 6, 0, { priority: 100 }),
      bound("weak", 4, 1, { priority: 1 }),
      bound("weaker", 5, 1, { priority: 0 }),
    ];
    expect(used({ pods, nominated: [nominee("p", 8)] })).toEqual([6, 17]);
  });

  it("holds its device against pods of lower or equal priority, not against higher ones", () => {
    const presence = { nominated: [nominee("p", 4)] };
    expect(used(presence, { for: { uid: "q", priority: 99 } })).toEqual([4, 0]);
    expect(used(presence, { for: { uid: "q", priority: 100 } })).toEqual([4, 0]);
    expect(used(presence, { for: { uid: "q", priority: 101 } })).toEqual([0, 0]);
  });

  it("holds nothing against itself", () => {
    expect(used({ nominated: [nominee("p", 4)] }, { for: { uid: "p", priority: 100 } })).toEqual([0, 0]);
  });

  it("holds nothing beside its own claim, nor once it is bound, terminal or going", () => {
    expect(used({ claims: [gpuClaim("p", 1, 4)], nominated: [nominee("p", 4)] })).toEqual([0, 4]);
    for (const more of [{ node: "n" }, { phase: "Failed" }, { terminating: true }]) {
      expect(used({ nominated: [nominee("p", 4, more)] })).toEqual([0, 0]);
    }
  });

  it("holds nothing on a node that it is not nominated to, that cannot take it, or when it asks for nothing", () => {
    expect(used({ nominated: [nominee("p", 4, { nominated: "m" })] })).toEqual([0, 0]);
    expect(used({ nominated: [nominee("p", 11)] })).toEqual([0, 0]);
    expect(used({ nominated: [nominee("p", 0)] })).toEqual([0, 0]);
    const strong = [bound("s", 6, 0, { priority: 100 }), bound("t", 6, 1, { priority: 100 })];
    expect(used({ pods: strong, nominated: [nominee("p", 8)] })).toEqual([6, 6]);
  });

  it("comes after nominated pods of higher priority, which choose their devices first", () => {
    const nominated = [nominee("low", 6, { priority: 50 }), nominee("high", 6, { priority: 100 })];
    const usage = usageOf(node, { pods: [bound("a", 2, 1)], claims: [], nominated });
    expect(usage.holders.map(({ uid, device, by }) => [uid, device, by])).toEqual([
      ["a", "1", "pod"],
      ["high", "1", "nomination"],
      ["low", "0", "nomination"],
    ]);
  });
});
