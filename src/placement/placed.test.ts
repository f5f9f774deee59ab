import { describe, expect, it } from "vitest";
import { realObjects } from "../../test/realdata.ts";
import { cutDown, pathTree } from "../protocol/paths.ts";
import { gpuNode, podObject } from "./gpu-fixture.ts";
import { NODE_PATHS, POD_PATHS, placedNode, placedPod } from "./placed.ts";

const healthy: ReadonlySet<string> = new Set();

describe("objects cut down to the paths that are read", () => {
  it("give the same pods and nodes", () => {
    const pods = [
      ...realObjects("pods").map(({ object }) => object),
      podObject({
        uid: "1",
        gpu: 4,
        node: "n",
        device: 1,
        priority: 5,
        terminating: true,
        labels: { a: "b" },
        started: 1,
      }),
      podObject({ uid: "2", gpu: 4, nominated: "n", phase: "Failed" }),
      {},
      { metadata: 5, spec: null, status: [] },
    ];
    for (const pod of pods) {
      const { object: _whole, ...read } = placedPod(pod);
      const { object: _cut, ...again } = placedPod(cutDown(pod, pathTree(POD_PATHS)));
      expect(again).toEqual(read);
    }
    for (const object of [
      ...realObjects("nodes").map((each) => each.object),
      gpuNode("n", [2, 20]).object,
      {},
      { status: 5 },
    ]) {
      const { object: _whole, ...read } = placedNode(object, healthy);
      const { object: _cut, ...again } = placedNode(cutDown(object, pathTree(NODE_PATHS)), healthy);
      expect(again).toEqual(read);
    }
  });
});

describe("a pod as placement sees it", () => {
  it("has what its object says", () => {
    const object = podObject({ uid: "1", gpu: 4, node: "n", device: 1, priority: 5 });
    expect(placedPod(object)).toEqual({
      uid: "1",
      namespace: "default",
      name: "pod-1",
      resourceVersion: "1",
      nodeName: "n",
      priority: 5,
      terminal: false,
      request: 4n,
      assigned: { device: "1", amount: 4n },
      object,
    });
  });

  it("has no device without a limit of GPU memory, whatever its annotations say", () => {
    expect(placedPod(podObject({ uid: "1", node: "n", device: 1 }))).not.toHaveProperty("assigned");
  });

  it("is terminal in the phases Succeeded and Failed only", () => {
    const terminal = (phase: string) => placedPod(podObject({ uid: "1", phase, terminating: true })).terminal;
    expect(["Pending", "Running", "Succeeded", "Failed", "Unknown"].map(terminal)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  it("tells its nomination, a revoked claim, and a request that no node can serve", () => {
    const pod = podObject({ uid: "1", gpu: 0, nominated: "n" });
    const revoked = { ...pod, metadata: { annotations: { "berth.dev/revoked": "claim-7" } } };
    expect(placedPod(revoked)).toMatchObject({ nominatedNode: "n", revoked: "claim-7", request: 0n });
    expect(placedPod(revoked).problem).toContain("asks for 0 aliyun.com/gpu-mem");
  });

  it("is read from any object, empty where that says nothing", () => {
    for (const object of [{}, { metadata: null, spec: 5, status: "x" }]) {
      expect(placedPod(object)).toEqual({
        ...{ uid: "", namespace: "", name: "", resourceVersion: "", nodeName: "" },
        ...{ priority: 0, terminal: false, request: 0n, object },
      });
      expect(placedNode(object, healthy)).toEqual({ name: "", uid: "", devices: [], object });
    }
  });
});
