import { describe, expect, it } from "vitest";
import { isNear } from "../policy.ts";
import { scaleScores } from "../rank.ts";
import type { Known } from "../view.ts";
import type { Device, Devices } from "../views/devices.ts";
import type { GpuRequest } from "../views/gpu-request.ts";
import { gpuMemory } from "./gpu-memory.ts";

const RESOURCE = "aliyun.com/gpu-mem";

/** A node of GPUs, each `[total, used]` or `[total, used, "unhealthy"]`. */
function node(...gpus: readonly (readonly [number, number, "unhealthy"?])[]): { known: Known<Devices> } {
  const devices = gpus.map(
    ([total, used, state], id): Device => ({
      id: String(id),
      total: BigInt(total),
      used: BigInt(used),
      healthy: state === undefined,
    }),
  );
  return { known: { value: { generation: 1, devices: { [RESOURCE]: devices } } } };
}

const nodeWithoutGpus = { known: { value: { generation: 1, devices: {} } } } as const;
const absent = { known: { unknown: "absent" } } as const;
const unreadable = { known: { unknown: "unreadable" } } as const;

function judge(request: number | GpuRequest, args: unknown = {}) {
  const asked = typeof request === "number" ? { amount: BigInt(request), containers: 1 } : request;
  return gpuMemory.prepare(gpuMemory.args.parse(args), { request: asked }, {});
}

describe("GpuMemory filters", () => {
  it("keeps a node exactly when one of its GPUs has the memory free, not all of them together", () => {
    const { filter } = judge(8);
    expect(filter?.(node([16, 8], [16, 16]))).toBeUndefined();
    expect(filter?.(node([16, 9], [16, 9]))).toBeDefined();
  });

  it("calls a full node curable by eviction, with the pod's number in the reason", () => {
    expect(judge(8).filter?.(node([16, 9]))).toEqual({
      reason: "node(s) had no GPU with 8 aliyun.com/gpu-mem free",
      unresolvable: false,
    });
  });

  it("refuses for good a node whose largest GPU is smaller than the request, though their sum would do (gpushare #219)", () => {
    const refusal = {
      reason: "node(s) had no healthy GPU as large as the 25 aliyun.com/gpu-mem that the pod asks for",
      unresolvable: true,
    };
    expect(judge(25).filter?.(node([20, 0], [20, 0]))).toEqual(refusal);
    expect(judge(25).filter?.(nodeWithoutGpus)).toEqual(refusal);
  });

  it("gives an unhealthy GPU nothing, and calls its node curable only when a healthy one is large enough", () => {
    expect(judge(8).filter?.(node([16, 0, "unhealthy"], [16, 16]))?.unresolvable).toBe(false);
    expect(judge(8).filter?.(node([16, 0, "unhealthy"], [4, 0]))?.unresolvable).toBe(true);
  });

  it("treats a GPU that holds more than it has as full", () => {
    expect(judge(1).filter?.(node([16, 20]))).toBeDefined();
  });

  it("keeps a pod with two gpu-mem containers off nodes with several GPUs, and says why (gpushare #143)", () => {
    const { filter } = judge({ amount: 3n, containers: 2 });
    const refusal = filter?.(node([16, 0], [16, 0]));
    expect(refusal?.unresolvable).toBe(true);
    expect(refusal?.reason).toContain("2 containers");
    expect(filter?.(node([16, 0]))).toBeUndefined();
    expect(filter?.(node([16, 16]))?.unresolvable).toBe(false);
  });

  it("lets pods that ask for no GPU memory pass, whatever is known of the node", () => {
    const { filter } = judge(0, { whenUnknown: "reject" });
    for (const each of [node([16, 16]), nodeWithoutGpus, absent, unreadable]) expect(filter?.(each)).toBeUndefined();
  });

  it("keeps a node with no published summary by default, and refuses it where the arguments say so", () => {
    for (const each of [absent, unreadable]) {
      expect(judge(8).filter?.(each)).toBeUndefined();
      const refusal = judge(8, { whenUnknown: "reject" }).filter?.(each);
      expect(refusal?.unresolvable).toBe(true);
      expect(refusal?.reason).toContain("BerthPublished");
    }
  });

  it("refuses a request that makes no sense in words, on every node (HAMi #1781)", () => {
    for (const problem of ["zero", "count-only", "unreadable"] as const) {
      const { filter } = judge({ amount: 0n, containers: 0, problem });
      const reasons = [node([16, 0]), nodeWithoutGpus, absent].map((each) => filter?.(each)?.reason);
      expect(new Set(reasons).size).toBe(1);
      expect(reasons[0]).toMatch(/^pod .* aliyun\.com\/gpu-mem/);
      expect(filter?.(node([16, 0]))?.unresolvable).toBe(true);
    }
  });
});

describe("GpuMemory scores", () => {
  const scored = (args: unknown, request: number, ...nodes: { known: Known<Devices> }[]) => {
    const { score } = judge(request, args);
    return scaleScores(
      gpuMemory.scale ?? "list",
      nodes.map((each) => score?.(each)),
    );
  };

  it("packs by default: the node whose GPU memory would be fullest is best", () => {
    expect(scored({}, 4, node([10, 0], [10, 6]), node([10, 0], [10, 0]))).toEqual([50, 20]);
  });

  it("spreads where the arguments say so: the emptiest node is best", () => {
    expect(scored({ score: "spread" }, 4, node([10, 0], [10, 6]), node([10, 0], [10, 0]))).toEqual([50, 80]);
  });

  it("leaves unhealthy GPUs out of the sum", () => {
    expect(scored({}, 5, node([10, 0], [10, 0, "unhealthy"]))).toEqual([50]);
  });

  it("gives 0 to a node without GPUs and to GPUs without memory, never NaN (HAMi #1780)", () => {
    for (const score of ["binpack", "spread"]) {
      expect(scored({ score }, 4, nodeWithoutGpus, node([0, 0]), node([0, 0], [10, 0, "unhealthy"]))).toEqual([
        0, 0, 0,
      ]);
    }
  });

  it("gives the same score to every node for a pod that asks for no GPU memory", () => {
    expect(scored({}, 0, node([10, 10]), nodeWithoutGpus, absent)).toEqual([0, 0, 0]);
  });

  it("scores a node lowest whose GPUs are not known", () => {
    expect(scored({}, 4, absent, node([10, 0]))).toEqual([0, 40]);
  });

  it("stays within 0 and 100 for overfull GPUs and for requests larger than the node", () => {
    expect(scored({}, 30, node([10, 15]))).toEqual([100]);
    expect(scored({ score: "spread" }, 30, node([10, 15]))).toEqual([0]);
  });
});

describe("GpuMemory", () => {
  it("is judged where the devices are watched, not remembered", () => {
    const { pod = {}, node = {} } = gpuMemory.reads(gpuMemory.args.parse({}), {} as never);
    expect(isNear({ spec: gpuMemory, weight: 1, args: {}, views: { pod, node, around: {} } })).toBe(true);
  });
});
