import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../protocol/json.ts";
import {
  assignedDevice,
  assignmentAnnotations,
  deviceSlots,
  nodeOfConfigMap,
  unhealthyConfigMap,
  unhealthyDevices,
} from "./gpushare.ts";

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
    expect(assignedDevice({ metadata: { annotations } }, 8n)).toEqual({ device: "3", amount: 8n, assumeTime: 5n });
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
