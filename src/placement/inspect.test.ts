import { describe, expect, it } from "vitest";
import { gpuClaim, gpuNode, gpuPod } from "./gpu-fixture.ts";
import { inspectNode, inspectUnknown } from "./inspect.ts";
import { usageOf } from "./usage.ts";

describe("inspect", () => {
  it("shows a node, its devices and whoever holds them, in gpushare's JSON", () => {
    const node = gpuNode("n", [2, 21]);
    const pods = [gpuPod({ uid: "a", gpu: 4, node: "n", device: 0 })];
    expect(inspectNode(node, usageOf(node, { pods, claims: [gpuClaim("b", 1, 3)] }))).toEqual({
      name: "n",
      totalGPU: 21,
      usedGPU: 7,
      devs: [
        { id: 0, totalGPU: 10, usedGPU: 4, pods: [{ name: "pod-a", namespace: "default", usedGPU: 4 }] },
        { id: 1, totalGPU: 10, usedGPU: 3, pods: [{ name: "pod-b", namespace: "default", usedGPU: 3 }] },
      ],
    });
  });

  it("shows a pod without annotations on every device", () => {
    const node = gpuNode("n", [2, 20]);
    const { devs } = inspectNode(node, usageOf(node, { pods: [gpuPod({ uid: "a", gpu: 4, node: "n" })], claims: [] }));
    expect(devs.map(({ usedGPU }) => usedGPU)).toEqual([4, 4]);
  });

  it("shows a node without GPUs as one that has none", () => {
    const node = gpuNode("n", [0, 0]);
    const shown = inspectNode(node, usageOf(node, { pods: [], claims: [] }));
    expect(shown).toEqual({ name: "n", totalGPU: 0, usedGPU: 0, devs: [] });
  });

  it("answers about an unknown node with no nodes and an error that names it", () => {
    expect(inspectUnknown("x")).toEqual({ nodes: [], error: expect.stringContaining('node "x" is not known') });
  });
});
