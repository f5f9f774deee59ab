import type { Json, JsonObject } from "../protocol/json.ts";
import type { Claim, PlacedNode, PlacedPod } from "./model.ts";
import { placedNode, placedPod } from "./placed.ts";

/** What a test says of a pod; everything else is as the API server would have it. */
export interface PodSketch {
  readonly uid: string;
  /** GPU memory that its one container asks for. */
  readonly gpu?: number | string;
  /** The node it is bound to. */
  readonly node?: string;
  /** The device its annotations name. */
  readonly device?: number | string;
  readonly priority?: number;
  readonly phase?: string;
  readonly nominated?: string;
  readonly terminating?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  /** Seconds since 1970 at which it started. */
  readonly started?: number;
  /** More of its spec. */
  readonly spec?: JsonObject;
}

/** A pod object for tests, in namespace `default`. */
export function podObject(sketch: PodSketch): JsonObject {
  const { uid, gpu, device } = sketch;
  const annotations =
    device === undefined ? {} : { ALIYUN_COM_GPU_MEM_IDX: String(device), ALIYUN_COM_GPU_MEM_POD: String(gpu) };
  const limits = gpu === undefined ? {} : { "aliyun.com/gpu-mem": String(gpu) };
  return {
    metadata: {
      name: `pod-${uid}`,
      namespace: "default",
      uid,
      resourceVersion: "1",
      annotations,
      ...given("labels", sketch.labels),
      ...(sketch.terminating && { deletionTimestamp: "2024-01-01T00:00:00Z" }),
    },
    spec: {
      containers: [{ name: "main", resources: { limits, requests: limits } }],
      ...given("nodeName", sketch.node),
      ...given("priority", sketch.priority),
      ...sketch.spec,
    },
    status: {
      phase: sketch.phase ?? "Running",
      ...given("nominatedNodeName", sketch.nominated),
      ...(sketch.started !== undefined && { startTime: new Date(sketch.started * 1000).toISOString() }),
    },
  };
}

/** The same pod as placement sees it. */
export function gpuPod(sketch: PodSketch): PlacedPod {
  return placedPod(podObject(sketch));
}

/** A node of `count` devices with `total` memory together; some can be unhealthy. */
export function gpuNode(name: string, [count, total]: readonly [number, number], unhealthy: string[] = []): PlacedNode {
  const capacity = { "aliyun.com/gpu-count": String(count), "aliyun.com/gpu-mem": String(total) };
  return placedNode({ metadata: { name, uid: `node-${name}` }, status: { capacity } }, new Set(unhealthy));
}

/** A claim of a pod on a device. */
export function gpuClaim(podUid: string, device: number | string, amount: number): Claim {
  return {
    id: `claim-${podUid}-${device}`,
    podUid,
    namespace: "default",
    podName: `pod-${podUid}`,
    device: String(device),
    amount: BigInt(amount),
    assumeTime: 1n,
    claimedAt: 1,
  };
}

function given(key: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [key]: value };
}
