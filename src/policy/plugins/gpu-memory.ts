import * as z from "zod";
import { freeMemory, gpuRefusal } from "../gpu-fit.ts";
import { definePlugin, type RawScore, type Rejection } from "../plugin.ts";
import type { Known } from "../view.ts";
import { type Device, type Devices, devices } from "../views/devices.ts";
import { GPU_MEMORY, type GpuRequest, gpuRequest } from "../views/gpu-request.ts";

const args = z.strictObject({
  score: z.enum(["binpack", "spread"]).default("binpack").meta({
    description: "which nodes are better: those whose GPU memory would be fullest with the pod, or emptiest",
  }),
  whenUnknown: z.enum(["skip", "reject"]).default("skip").meta({
    description: "what becomes of a node whose devices are not known: kept and scored lowest, or refused",
  }),
});

const UNKNOWN: Rejection = {
  reason: "node(s) had no readable summary of their GPUs in the condition BerthPublished",
  unresolvable: true,
};

/** Places pods that share GPUs by memory. */
export const gpuMemory = definePlugin({
  name: "GpuMemory",
  version: 1,
  doc:
    `Places pods that ask for ${GPU_MEMORY}: keeps nodes where one healthy GPU has that much memory free, and prefers ` +
    "nodes whose GPU memory is fullest (binpack) or emptiest (spread). For clusters that share GPUs with gpushare's " +
    "device plugin. Pods that ask for none are left alone.",
  maturity: "beta",
  args,
  scale: "none",
  reads: () => ({ pod: { request: gpuRequest }, node: { known: devices } }),
  prepare: ({ score, whenUnknown }, { request }) => ({
    filter: ({ known }) => {
      const own = gpusOf(known);
      if (own !== undefined || request.problem !== undefined) return gpuRefusal(request, own ?? []);
      return request.amount > 0n && whenUnknown === "reject" ? UNKNOWN : undefined;
    },
    score: ({ known }) => scoreNode(request, gpusOf(known), score),
  }),
});

/** A node's devices for the resource, or undefined where they are not known. */
function gpusOf(known: Known<Devices>): readonly Device[] | undefined {
  return "value" in known ? (known.value.devices[GPU_MEMORY] ?? []) : undefined;
}

/** 0…100: how full the node's healthy GPUs would be with the pod, or how empty. 0 for pods that ask for none. */
function scoreNode({ amount }: GpuRequest, gpus: readonly Device[] | undefined, how: "binpack" | "spread"): RawScore {
  if (amount === 0n) return 0;
  if (gpus === undefined) return undefined;
  const healthy = gpus.filter((device) => device.healthy);
  const total = healthy.reduce((sum, device) => sum + device.total, 0n);
  if (total <= 0n) return 0;
  const free = healthy.reduce((sum, device) => sum + freeMemory(device), 0n);
  const left = free > amount ? free - amount : 0n;
  return (100 * Number(how === "spread" ? left : total - left)) / Number(total);
}
