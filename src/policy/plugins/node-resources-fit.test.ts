import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../protocol/json.ts";
import { isNear } from "../policy.ts";
import { podFitRequests, podScoreRequests } from "../views/pod-requests.ts";
import { nodeResourcesFit } from "./node-resources-fit.ts";

const GPU = "example.com/gpu";

function judge(requests: JsonObject, args: unknown = {}) {
  const pod = { spec: { containers: [{ name: "c", resources: { requests } }] } };
  const facts = { fit: podFitRequests.read?.(pod, 0), scored: podScoreRequests.read?.(pod, 0) };
  return nodeResourcesFit.prepare(nodeResourcesFit.args.parse(args), facts as never, {});
}

interface Used {
  readonly pods?: number;
  readonly requested?: Readonly<Record<string, number>>;
  readonly nonZero?: { readonly cpu: number; readonly memory: number };
}

function node(room: Readonly<Record<string, number>>, used: Used = {}) {
  const usage = { pods: 0, requested: {}, nonZero: { cpu: 0, memory: 0 }, ports: {}, ...used };
  return { room: { pods: 110, ...room }, usage };
}

describe("NodeResourcesFit filters", () => {
  it("keeps a node with exactly the room that the pod needs", () => {
    const { filter } = judge({ cpu: "1", memory: "1Ki", [GPU]: "1" });
    expect(filter?.(node({ cpu: 1000, memory: 1024, [GPU]: 1 }))).toBeUndefined();
    expect(filter?.(node({ cpu: 1500, memory: 1024, [GPU]: 1 }, { requested: { cpu: 500 } }))).toBeUndefined();
  });

  it("names every resource that is short, and counts a full node curable by eviction", () => {
    const { filter } = judge({ cpu: "1", memory: "1Ki", "ephemeral-storage": "1", [GPU]: "1" });
    const room = { cpu: 1000, memory: 1024, "ephemeral-storage": 1, [GPU]: 1 };
    const requested = { cpu: 1, memory: 1, "ephemeral-storage": 1, [GPU]: 1 };
    const reasons = [
      "Too many pods",
      "Insufficient cpu",
      "Insufficient memory",
      "Insufficient ephemeral-storage",
      `Insufficient ${GPU}`,
    ];
    expect(filter?.(node({ ...room, pods: 3 }, { pods: 3, requested }))).toEqual({
      reason: "Too many pods",
      reasons,
      unresolvable: false,
    });
  });

  it("calls a node that is too small when empty refused for good", () => {
    const { filter } = judge({ cpu: "2" });
    expect(filter?.(node({ cpu: 1999 }))).toEqual({ reason: "Insufficient cpu", unresolvable: true });
    expect(filter?.(node({ cpu: 2000 }, { requested: { cpu: 1 } }))?.unresolvable).toBe(false);
    expect(filter?.(node({}))).toEqual({ reason: "Insufficient cpu", unresolvable: true });
  });

  it("asks a pod without requests for nothing but a place among the pods", () => {
    const { filter } = judge({});
    expect(filter?.(node({ cpu: 1, pods: 1 }, { requested: { cpu: 5 } }))).toBeUndefined();
    expect(filter?.(node({ pods: 1 }, { pods: 1 }))?.reason).toBe("Too many pods");
  });

  it("does not look at device resources that are ignored, by name or by group, but always at cpu", () => {
    expect(judge({ [GPU]: "1" }, { ignoredResources: [GPU] }).filter?.(node({}))).toBeUndefined();
    expect(judge({ [GPU]: "1" }, { ignoredResourceGroups: ["example.com"] }).filter?.(node({}))).toBeUndefined();
    expect(judge({ [GPU]: "1" }, { ignoredResourceGroups: ["example.org"] }).filter?.(node({}))).toBeDefined();
    expect(judge({ cpu: "1" }, { ignoredResources: ["cpu"] }).filter?.(node({}))).toBeDefined();
  });
});

describe("NodeResourcesFit scores", () => {
  const strategy = (type: string, more: object = {}) => ({ scoringStrategy: { type, ...more } });
  const half = node({ cpu: 1000, memory: 1000 }, { nonZero: { cpu: 250, memory: 500 } });

  it("prefers nodes with most left by default", () => {
    const { score } = judge({ cpu: "250m", memory: "100" });
    // cpu: 500 of 1000 left; memory: 400 of 1000.
    expect(score?.(half)).toBe(45);
  });

  it("prefers nodes with least left with MostAllocated, and takes an overfull one for full", () => {
    const { score } = judge({ cpu: "250m", memory: "100" }, strategy("MostAllocated"));
    expect(score?.(half)).toBe(55);
    expect(score?.(node({ cpu: 100, memory: 100 }, { nonZero: { cpu: 200, memory: 200 } }))).toBe(100);
  });

  it("scores by a curve with RequestedToCapacityRatio", () => {
    const shape = [
      { utilization: 0, score: 0 },
      { utilization: 50, score: 10 },
      { utilization: 100, score: 2 },
    ];
    const resources = [{ name: "cpu", weight: 1 }];
    const args = strategy("RequestedToCapacityRatio", { resources, requestedToCapacityRatio: { shape } });
    const at = (cpu: number) => judge({ cpu: "0" }, args).score?.(node({ cpu: 100 }, { nonZero: { cpu, memory: 0 } }));
    expect([0, 25, 50, 75, 100, 150].map(at)).toEqual([0, 50, 100, 60, 20, 20]);
  });

  it("counts 100m and 200Mi for what the pod leaves out", () => {
    const { score } = judge({}, strategy("MostAllocated"));
    expect(score?.(node({ cpu: 1000, memory: 400 * 1024 ** 2 }))).toBe((10 + 50) / 2);
  });

  it("weighs resources, and leaves out those that the node has not or the pod does not ask for", () => {
    const resources = [
      { name: "cpu", weight: 3 },
      { name: GPU, weight: 1 },
    ];
    const args = strategy("MostAllocated", { resources });
    const four = node({ cpu: 1000, [GPU]: 4 }, { requested: { [GPU]: 1 } });
    expect(judge({ cpu: "1", [GPU]: "1" }, args).score?.(four)).toBe((3 * 100 + 50) / 4 - 0.5);
    expect(judge({ cpu: "500m" }, args).score?.(four)).toBe(50);
    expect(judge({ cpu: "500m", [GPU]: "1" }, args).score?.(node({ cpu: 1000 }))).toBe(50);
    expect(judge({ cpu: "500m" }, args).score?.(node({}))).toBe(0);
  });

  it("stays exact for amounts whose hundredfold no double can count", () => {
    const resources = [{ name: "ephemeral-storage", weight: 1 }];
    const total = 2 ** 53 - 1;
    const full = node({ "ephemeral-storage": total }, { requested: { "ephemeral-storage": total - 2 ** 50 } });
    const args = strategy("MostAllocated", { resources });
    expect(judge({ "ephemeral-storage": String(2 ** 50 - 1) }, args).score?.(full)).toBe(99);
  });
});

it("refuses arguments that kube-scheduler refuses", () => {
  for (const scoringStrategy of [
    { type: "Fullest" },
    { type: "RequestedToCapacityRatio" },
    { requestedToCapacityRatio: { shape: [{ utilization: 0, score: 0 }] } },
    { resources: [{ name: "cpu", weight: 101 }] },
    { type: "RequestedToCapacityRatio", requestedToCapacityRatio: { shape: [] } },
    {
      type: "RequestedToCapacityRatio",
      requestedToCapacityRatio: {
        shape: [
          { utilization: 50, score: 0 },
          { utilization: 50, score: 1 },
        ],
      },
    },
  ]) {
    expect(nodeResourcesFit.args.safeParse({ scoringStrategy }).success).toBe(false);
  }
  expect(nodeResourcesFit.args.safeParse({ ignoredResourceGroups: ["a/b"] }).success).toBe(false);
});

it("is judged where the pods of each node are known", () => {
  const args = nodeResourcesFit.args.parse({});
  const { pod = {}, node: views = {} } = nodeResourcesFit.reads(args, {} as never);
  expect(isNear({ spec: nodeResourcesFit, weight: 1, args, views: { pod, node: views, around: {} } })).toBe(true);
});
