import { describe, expect, it } from "vitest";
import { realObjects } from "../../test/realdata.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import { cutDown, pathTree } from "../protocol/paths.ts";
import { podObject } from "./gpu-fixture.ts";
import {
  assignedDevice,
  assignmentAnnotations,
  deviceSlots,
  nodeOfConfigMap,
  unhealthyConfigMap,
  unhealthyDevices,
} from "./gpushare.ts";
import { NODE_PATHS, POD_PATHS, placedNode, placedPod } from "./placed.ts";

const healthy: ReadonlySet<string> = new Set();

function node(capacity: Json): JsonObject {
  return { metadata: { name: "n", uid: "u" }, status: { capacity } };
}

const gpus = (count: Json, memory: Json) => node({ "aliyun.com/gpu-count": count, "aliyun.com/gpu-mem": memory });

describe("the devices of a node", () => {
  it("have ids from 0 and the memory divided by their number, rounded down", () => {
    expect(deviceSlots(gpus("3", "32"), healthy)).toEqual([
      { id: "0", total: 10n, healthy: true },
      { id: "1", total: 10n, healthy: true },
      { id: "2", total: 10n, healthy: true },
    ]);
  });

  it("are counted from any spelling of a quantity", () => {
    expect(deviceSlots(gpus(2, "16k"), healthy).map(({ total }) => total)).toEqual([8000n, 8000n]);
  });

  it("are unhealthy when the ConfigMap says so; an id that the node does not have marks nothing", () => {
    const slots = deviceSlots(gpus("2", "20"), new Set(["1", "7"]));
    expect(slots.map((slot) => slot.healthy)).toEqual([true, false]);
  });

  it("are none when the capacity is absent, unreadable or makes no sense", () => {
    const senseless: Json[] = ["0", "-1", "many", "", null, "1000000000", {}];
    for (const count of senseless) expect(deviceSlots(gpus(count, "20"), healthy)).toEqual([]);
    for (const memory of ["0", "-1", "lots", null]) expect(deviceSlots(gpus("2", memory), healthy)).toEqual([]);
    for (const object of [{}, node(null), node("x"), node({}), node({ "aliyun.com/gpu-mem": "8" })]) {
      expect(deviceSlots(object, healthy)).toEqual([]);
    }
  });

  it("can be too small to hold a unit", () => {
    expect(deviceSlots(gpus("4", "3"), healthy).map(({ total }) => total)).toEqual([0n, 0n, 0n, 0n]);
  });
});

describe("the annotations of a pod with a device", () => {
  it("are the five that gpushare's device plugin reads, all strings, the time in nanoseconds", () => {
    const slot = { id: "1", total: 16n, healthy: true };
    expect(assignmentAnnotations({ slot, request: 8n, assumeTime: 1_700_000_000_123_000_007n })).toEqual({
      ALIYUN_COM_GPU_MEM_IDX: "1",
      ALIYUN_COM_GPU_MEM_POD: "8",
      ALIYUN_COM_GPU_MEM_DEV: "16",
      ALIYUN_COM_GPU_MEM_ASSIGNED: "false",
      ALIYUN_COM_GPU_MEM_ASSUME_TIME: "1700000000123000007",
    });
  });

  it("are read back as they were written", () => {
    const slot = { id: "3", total: 16n, healthy: true };
    const annotations = assignmentAnnotations({ slot, request: 8n, assumeTime: 5n });
    expect(assignedDevice({ metadata: { annotations } }, 8n)).toEqual({ device: "3", amount: 8n });
  });

  it("name no device when the id is missing or no number", () => {
    for (const id of [undefined, null, "", "-1", "x", "1.5", 1, "12345678901"]) {
      const annotations = { ...(id !== undefined && { ALIYUN_COM_GPU_MEM_IDX: id }), ALIYUN_COM_GPU_MEM_POD: "8" };
      expect(assignedDevice({ metadata: { annotations } }, 8n)).toBeUndefined();
    }
    expect(assignedDevice({}, 8n)).toBeUndefined();
  });

  it("count with the amount that they state, and with the request when that cannot be read", () => {
    const amount = (text: Json | undefined) =>
      assignedDevice(
        { metadata: { annotations: { ALIYUN_COM_GPU_MEM_IDX: "0", ALIYUN_COM_GPU_MEM_POD: text } as never } },
        8n,
      )?.amount;
    expect(amount("6")).toBe(6n);
    for (const bad of [undefined, null, "", "six", "-6", 6]) expect(amount(bad)).toBe(8n);
  });
});

describe("the ConfigMap of unhealthy devices", () => {
  const configMap = (gpus: Json) => ({
    metadata: { namespace: "kube-system", name: "unhealthy-gpu-node-1" },
    data: { gpus },
  });

  it("is found by its namespace and name, and names its node", () => {
    expect(unhealthyConfigMap("node-1")).toBe("unhealthy-gpu-node-1");
    expect(nodeOfConfigMap(configMap(""))).toBe("node-1");
    for (const metadata of [
      { namespace: "default", name: "unhealthy-gpu-node-1" },
      { namespace: "kube-system", name: "unhealthy-gpu-" },
      { namespace: "kube-system", name: "other" },
      null,
    ]) {
      expect(nodeOfConfigMap({ metadata })).toBeUndefined();
    }
  });

  it("lists ids separated by commas", () => {
    expect(unhealthyDevices(configMap("0, 2,03"))).toEqual({ ids: new Set(["0", "2", "3"]), problems: [] });
  });

  it("means that all are healthy when it is gone, empty or has no such key", () => {
    for (const each of [undefined, {}, { data: null }, { data: {} }, configMap(""), configMap(","), configMap(5)]) {
      expect(unhealthyDevices(each)).toEqual({ ids: new Set(), problems: [] });
    }
  });

  it("marks nothing by an entry that is no id, device 0 neither, and tells where it stands", () => {
    const { ids, problems } = unhealthyDevices(configMap("1,GPU-abc,-1"));
    expect(ids).toEqual(new Set(["1"]));
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('ConfigMap kube-system/unhealthy-gpu-node-1, key gpus: "GPU-abc"');
  });
});

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
    for (const object of [...realObjects("nodes").map((each) => each.object), gpus("2", "20"), {}, { status: 5 }]) {
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
