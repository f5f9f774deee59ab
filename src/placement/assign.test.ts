import { describe, expect, it } from "vitest";
import { assignDevice } from "./assign.ts";
import { gpuNode, gpuPod, type PodSketch } from "./gpu-fixture.ts";
import { usageOf } from "./usage.ts";

const one = gpuNode("n", [1, 10]);
const two = gpuNode("n", [2, 20]);
const holding = gpuPod({ uid: "a", gpu: 4, node: "n", device: 1 });

function assign(pod: Partial<PodSketch>, node = two) {
  return assignDevice(gpuPod({ uid: "p", ...pod }), node, usageOf(node, { pods: [holding], claims: [] }));
}

const asking = (...amounts: string[]) => ({
  containers: amounts.map((amount) => ({ resources: { limits: { "aliyun.com/gpu-mem": amount } } })),
});

describe("the device of a pod at bind", () => {
  it("is the best fit of live state", () => {
    expect(assign({ gpu: 6 })).toEqual({ slot: { id: "1", total: 10n, healthy: true } });
    expect(assign({ gpu: 7 })).toMatchObject({ slot: { id: "0" } });
  });

  it("is refused in the filter's own words when no device has room, or none is large enough", () => {
    const full = usageOf(one, { pods: [gpuPod({ uid: "b", gpu: 5, node: "n", device: 0 })], claims: [] });
    expect(assignDevice(gpuPod({ uid: "p", gpu: 6 }), one, full)).toEqual({
      refusal: "node(s) had no GPU with 6 aliyun.com/gpu-mem free",
    });
    expect(assign({ gpu: 11 })).toMatchObject({ refusal: expect.stringContaining("as large as the 11") });
  });

  it("is refused to a pod with two gpu-mem containers, except on a node with one device (gpushare #143)", () => {
    expect(assign({ spec: asking("1", "2") })).toMatchObject({ refusal: expect.stringContaining("2 containers") });
    expect(assign({ spec: asking("1", "2") }, one)).toMatchObject({ slot: { id: "0" } });
  });

  it("is refused to a pod whose request makes no sense, and to one without a request", () => {
    expect(assign({ gpu: 0 })).toMatchObject({ refusal: expect.stringContaining("asks for 0") });
    expect(assign({ gpu: "nonsense" })).toMatchObject({ refusal: expect.stringContaining("not a positive quantity") });
    expect(assign({})).toMatchObject({ refusal: expect.stringContaining("needs no device") });
  });
});
