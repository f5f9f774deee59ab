import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../protocol/json.ts";
import { cutDown, pathTree } from "../protocol/paths.ts";
import { type PodSketch, podObject } from "./gpu-fixture.ts";
import type { PlacedNode } from "./model.ts";
import { placedNode, placedPod } from "./placed.ts";
import { ROOM_PATHS, roomFor } from "./room.ts";

const IDENTITY = ["metadata.uid", "spec.nodeName", "spec.priority", "status.phase"];
const podTree = pathTree([...ROOM_PATHS.pod, ...IDENTITY]);
const pod = (sketch: PodSketch) => placedPod(cutDown(podObject(sketch), podTree));

function node(allocatable: JsonObject): PlacedNode {
  return placedNode(
    cutDown({ metadata: { name: "n" }, status: { allocatable } }, pathTree(ROOM_PATHS.node)),
    new Set(),
  );
}

const big = node({ "aliyun.com/gpu-mem": "20", cpu: "4", pods: "10" });
const bound = ["a", "b", "c", "d"].map((uid) => pod({ uid, gpu: 5, node: "n" }));
const asks = (more: Partial<PodSketch> = {}) => pod({ uid: "p", gpu: 10, priority: 10, ...more });
const room = (gone: string[], asking = asks(), nominated = [] as ReturnType<typeof pod>[]) =>
  roomFor(asking, big, { bound, nominated })(new Set(gone));

describe("whether kube-scheduler's own plugins take a pod once others are gone", () => {
  it("is sure when what is left of every resource is enough", () => {
    expect(room(["a", "b"])).toBe(true);
    expect(room(["a"])).toBe(false);
  });

  it("counts every resource that the pod asks for, and the number of pods", () => {
    const cpu = (text: string) => asks({ spec: { containers: [{ resources: { requests: { cpu: text } } }] } });
    expect(room([], cpu("4"))).toBe(true);
    expect(room([], cpu("4001m"))).toBe(false);
    const small = node({ "aliyun.com/gpu-mem": "20", pods: "4" });
    const roomOnSmall = roomFor(pod({ uid: "p" }), small, { bound, nominated: [] });
    expect([[], ["a"]].map((gone) => roomOnSmall(new Set(gone)))).toEqual([false, true]);
  });

  it("counts pods that are nominated with the same or a higher priority, and none in a terminal phase", () => {
    const nominee = (priority: number) => pod({ uid: "q", gpu: 1, priority });
    expect(room(["a", "b"], asks(), [nominee(10)])).toBe(false);
    expect(room(["a", "b"], asks(), [nominee(9)])).toBe(true);
    const done = pod({ uid: "e", gpu: 20, node: "n", phase: "Failed" });
    expect(roomFor(asks(), big, { bound: [done], nominated: [] })(new Set())).toBe(true);
  });

  const others: [string, JsonObject][] = [
    ["a port of the host", { containers: [{ ports: [{ hostPort: 80 }] }] }],
    ["a volume claim", { volumes: [{ persistentVolumeClaim: { claimName: "x" } }] }],
    ["a resource claim", { resourceClaims: [{ name: "x" }] }],
    ["spreading", { topologySpreadConstraints: [{ maxSkew: 1 }] }],
    ["affinity to pods", { affinity: { podAffinity: {} } }],
    ["affinity away from pods", { affinity: { podAntiAffinity: {} } }],
  ];
  it.each(others)("is never sure for a pod with %s", (_, spec) => {
    expect(room(["a", "b", "c", "d"], asks({ spec }))).toBe(false);
  });

  it("is sure for a pod with volumes that no plugin looks at, and ports of its own", () => {
    const volumes: Json = [{ emptyDir: {} }, { configMap: { name: "x" } }, { projected: {} }];
    const containers: Json = [{ ports: [{ containerPort: 80 }] }];
    expect(room([], asks({ spec: { volumes, containers } }))).toBe(true);
  });

  it("is not sure while a pod stays that keeps others away from its node", () => {
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } };
    const hermit = pod({ uid: "h", node: "n", spec: { affinity } });
    const without = roomFor(asks(), big, { bound: [hermit], nominated: [] });
    expect([[], ["h"]].map((gone) => without(new Set(gone)))).toEqual([false, true]);
  });

  it("is never sure when an amount cannot be read", () => {
    const odd = pod({ uid: "e", gpu: "lots", node: "n" });
    expect(roomFor(asks(), big, { bound: [odd], nominated: [] })(new Set(["e"]))).toBe(false);
    expect(roomFor(asks({ gpu: "lots" }), big, { bound: [], nominated: [] })(new Set())).toBe(false);
    expect(roomFor(asks(), node({ cpu: "x" }), { bound: [], nominated: [] })(new Set())).toBe(false);
  });
});
