import * as z from "zod";
import { field, type JsonObject } from "../../protocol/json.ts";
import { parseQuantity, toUnits } from "../quantity.ts";
import type { View } from "../view.ts";
import { amount } from "./amounts.ts";
import { at, items, type Place } from "./place.ts";

/** Memory of GPUs, in the cluster's own unit, GiB or MiB: the resource of gpushare's device plugin (45fb8b8). */
export const GPU_MEMORY = "aliyun.com/gpu-mem";
/** Number of a node's GPUs, as the same device plugin reports it. */
export const GPU_COUNT = "aliyun.com/gpu-count";

/** What a pod asks of one GPU. */
export interface GpuRequest {
  /** Memory of one device, in the cluster's own unit; 0 for a pod that asks for none. */
  readonly amount: bigint;
  /** How many containers ask for some of it. */
  readonly containers: number;
  /** Why no node can serve the pod, whatever it has: see {@link GPU_PROBLEMS}. */
  readonly problem?: GpuProblem;
}

/** A request that makes no sense. */
export type GpuProblem = "zero" | "count-only" | "unreadable";

/** What is wrong with such a pod and what to do, in words that are the same for every pod. */
export const GPU_PROBLEMS: Readonly<Record<GpuProblem, string>> = {
  zero: `pod asks for 0 ${GPU_MEMORY}: ask for at least 1, or leave the limit out`,
  "count-only": `pod asks for ${GPU_COUNT} without ${GPU_MEMORY}: ask for the memory that it needs of one device`,
  unreadable: `pod has a limit of ${GPU_MEMORY} that is not a positive quantity such as 8`,
};

const INT64_MAX = 2n ** 63n - 1n;

/**
 * What the pod asks of one GPU: the limits of its containers, each rounded up to whole units, as gpushare's scheduler
 * extender adds them (`GetGPUMemoryFromPodResource`, pkg/utils/pod.go, c0b6141). Ordinary init containers give their
 * memory back before the others start and do not count; native sidecars hold it as long as the pod lives and do.
 */
export const gpuRequest: View<GpuRequest> = {
  name: "gpuRequest",
  of: "pod",
  pace: "slow",
  doc: "What the pod asks of one GPU: memory in the cluster's own unit, and how many containers ask for it.",
  paths: ["spec.containers", "spec.initContainers"],
  fact: z.object({
    amount,
    containers: z.int().min(0),
    problem: z.enum(["zero", "count-only", "unreadable"]).exactOptional(),
  }),
  read: (pod) => readGpuRequest(pod),
};

/** One container's limits of the two resources; undefined where it has none, `bad` where it is no quantity. */
interface Limits {
  readonly memory: bigint | "bad" | undefined;
  readonly count: bigint | "bad" | undefined;
}

/** Reads the fact of {@link gpuRequest}: it can always be told. */
export function readGpuRequest(pod: JsonObject): GpuRequest {
  const limits = lastingContainers(pod).map(readLimits);
  const asked = limits.map(({ memory }) => memory).filter((memory) => memory !== undefined);
  const amounts = asked.filter((memory) => memory !== "bad" && memory > 0n) as bigint[];
  const sum = amounts.reduce((total, each) => total + each, 0n);
  const problem = problemOf(limits, asked, amounts);
  return {
    amount: sum > INT64_MAX ? INT64_MAX : sum,
    containers: amounts.length,
    ...(problem !== undefined && { problem }),
  };
}

function problemOf(
  limits: readonly Limits[],
  asked: readonly (bigint | "bad")[],
  amounts: readonly bigint[],
): GpuProblem | undefined {
  if (asked.some((memory) => memory === "bad")) return "unreadable";
  if (amounts.length > 0) return undefined;
  if (limits.some(({ count }) => count !== undefined && count !== 0n)) return "count-only";
  return asked.length > 0 ? "zero" : undefined;
}

/** The containers that run as long as the pod does. */
function lastingContainers(pod: JsonObject): readonly Place[] {
  const spec = at({ value: pod, path: "" }, "spec");
  const sidecars = items(at(spec, "initContainers"), []).filter(
    (container) => at(container, "restartPolicy").value === "Always",
  );
  return [...items(at(spec, "containers"), []), ...sidecars];
}

function readLimits({ value: container }: Place): Limits {
  const limits = field(field(container, "resources"), "limits");
  return { memory: readLimit(field(limits, GPU_MEMORY)), count: readLimit(field(limits, GPU_COUNT)) };
}

function readLimit(value: unknown): bigint | "bad" | undefined {
  if (value === undefined) return undefined;
  const quantity = parseQuantity(value);
  return quantity === undefined || quantity < 0n ? "bad" : toUnits(quantity);
}
