import * as z from "zod";
import type { Amounts } from "./amounts.ts";
import { emptyMap, mapOf } from "./maps.ts";

/**
 * Amounts as plain numbers, for sums that are made for every pod and node: `cpu` in millicores, `memory` and
 * `ephemeral-storage` in bytes, everything else in its own units. Exact up to 2^53, which is 8 PiB. Without a
 * prototype: a resource that is not there reads as undefined.
 */
export type Counts = Readonly<Record<string, number>>;

/** Counts as JSON. */
export const counts: z.ZodType<Counts> = mapOf(z.number());

/** The amounts of those resources that kube-scheduler counts, as numbers. */
export function countsOf(amounts: Amounts): Record<string, number> {
  const counted = emptyMap<number>();
  for (const resource in amounts) if (isCounted(resource)) counted[resource] = Number(amounts[resource]);
  return counted;
}

/** `Resource.Add` of `pkg/scheduler/framework/types.go`, v1.37.2: what is none of these nobody counts. */
function isCounted(resource: string): boolean {
  return COUNTED.has(resource) || isScalarResource(resource);
}

const COUNTED: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);

/** Resources beside cpu, memory and storage: `IsScalarResourceName` of `pkg/scheduler/util/utils.go`, v1.37.2. */
export function isScalarResource(resource: string): boolean {
  return (
    resource.includes("kubernetes.io/") ||
    resource.startsWith("hugepages-") ||
    resource.startsWith("attachable-volumes-") ||
    isExtendedResource(resource)
  );
}

/** Resources of device plugins: `IsExtendedResourceName` of `pkg/apis/core/v1/helper/helpers.go`, v1.37.2. */
export function isExtendedResource(resource: string): boolean {
  return resource.includes("/") && !resource.includes("kubernetes.io/") && !resource.startsWith("requests.");
}
