import { describe, expect, it } from "vitest";
import type { Json } from "../../protocol/json.ts";
import { GPU_PROBLEMS, type GpuRequest, gpuRequest } from "./gpu-request.ts";

const MEMORY = "aliyun.com/gpu-mem";
const COUNT = "aliyun.com/gpu-count";

type Container = { readonly [key: string]: Json };

const asks = (limits: Record<string, Json>): Container => ({ resources: { limits } });

function read(containers: Json, initContainers?: Json): GpuRequest {
  return gpuRequest.read?.(
    { spec: { containers, ...(initContainers !== undefined && { initContainers }) } },
    0,
  ) as never;
}

describe("what a pod asks of a GPU", () => {
  it("is the sum of its containers' limits", () => {
    expect(read([asks({ [MEMORY]: "2" })])).toEqual({ amount: 2n, containers: 1 });
    expect(read([asks({ [MEMORY]: "1" }), asks({}), asks({ [MEMORY]: 2 })])).toEqual({ amount: 3n, containers: 2 });
  });

  it("takes every spelling of a quantity, and rounds each container up to whole units", () => {
    expect(read([asks({ [MEMORY]: "16k" })]).amount).toBe(16_000n);
    expect(read([asks({ [MEMORY]: "1Ki" })]).amount).toBe(1024n);
    expect(read([asks({ [MEMORY]: "1500m" })]).amount).toBe(2n);
    expect(read([asks({ [MEMORY]: "500m" }), asks({ [MEMORY]: "500m" })]).amount).toBe(2n);
  });

  it("counts limits, not requests", () => {
    expect(read([{ resources: { requests: { [MEMORY]: "4" } } }])).toEqual({ amount: 0n, containers: 0 });
  });

  it("counts native sidecars, which hold memory as long as the pod lives, and no ordinary init container", () => {
    const sidecar = { ...asks({ [MEMORY]: "2" }), restartPolicy: "Always" };
    const init = asks({ [MEMORY]: "30" });
    expect(read([asks({ [MEMORY]: "1" })], [init, sidecar])).toEqual({ amount: 3n, containers: 2 });
    expect(read([asks({ cpu: "1" })], [init, asks({ [MEMORY]: "nonsense" })])).toEqual({ amount: 0n, containers: 0 });
  });

  it("is nothing for a pod that asks for nothing, has no containers, or none that can be read", () => {
    for (const containers of [[], null, "x", [null, 5, {}], [{ resources: null }], [asks({ cpu: "1" })]]) {
      expect(read(containers)).toEqual({ amount: 0n, containers: 0 });
    }
  });

  it("does not count a container that asks for 0 beside one that asks for more", () => {
    expect(read([asks({ [MEMORY]: "0" }), asks({ [MEMORY]: "3" })])).toEqual({ amount: 3n, containers: 1 });
  });

  it("never exceeds 64 bits", () => {
    expect(read([asks({ [MEMORY]: "9E" }), asks({ [MEMORY]: "9E" })]).amount).toBe(2n ** 63n - 1n);
  });
});

describe("a request that no node can serve", () => {
  it("is one for 0 units", () => {
    expect(read([asks({ [MEMORY]: "0" })]).problem).toBe("zero");
    expect(read([asks({ [MEMORY]: null })]).problem).toBe("zero");
  });

  it("is one for a number of GPUs without memory", () => {
    expect(read([asks({ [COUNT]: "1" })]).problem).toBe("count-only");
    expect(read([asks({ [COUNT]: "1" }), asks({ [MEMORY]: "0" })]).problem).toBe("count-only");
    expect(read([asks({ [COUNT]: "lots" })]).problem).toBe("count-only");
  });

  it("is one that is no quantity or a negative one, whatever else the pod asks for", () => {
    for (const bad of ["nonsense", "-1", "", true, [], {}]) {
      expect(read([asks({ [MEMORY]: bad }), asks({ [MEMORY]: "3" })])).toMatchObject({ problem: "unreadable" });
    }
  });

  it("is not one for memory and a number of GPUs, nor for 0 GPUs", () => {
    expect(read([asks({ [COUNT]: "2", [MEMORY]: "3" })])).toEqual({ amount: 3n, containers: 1 });
    expect(read([asks({ [COUNT]: "0" })])).toEqual({ amount: 0n, containers: 0 });
  });

  it("is explained in words that name the resource and what to do", () => {
    for (const text of Object.values(GPU_PROBLEMS)) expect(text).toContain(MEMORY);
    expect(GPU_PROBLEMS["count-only"]).toContain(COUNT);
  });
});
