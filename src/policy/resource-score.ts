import * as z from "zod";
import { type Counts, isScalarResource } from "./views/counts.ts";

/** What the scored resources of a node come to, one number each; 0 of `allocatable` leaves a resource out. */
export interface ResourceLoads {
  /** With the pod. */
  readonly requested: readonly number[];
  /** Without it. */
  readonly allocated: readonly number[];
  readonly allocatable: readonly number[];
}

/**
 * Gathers the loads of nodes for one pod: `calculateNodeAllocatableRequest` of noderesources/resource_allocation.go,
 * v1.37.2. A device resource that the pod does not ask for is left out. The answer is overwritten by the next call.
 *
 * @param resources the names that are scored
 * @param asked what the pod asks for of each
 */
export function resourceLoads(resources: readonly string[], asked: readonly number[]) {
  const scored = resources.flatMap((name, index) => {
    const amount = asked[index] ?? 0;
    return PLAIN.has(name) || (isScalarResource(name) && amount !== 0) ? [{ name, index, amount }] : [];
  });
  const loads = { requested: zeros(resources), allocated: zeros(resources), allocatable: zeros(resources) };
  return (room: Counts, used: (resource: string) => number): ResourceLoads => {
    for (const { name, index, amount } of scored) {
      const total = room[name] ?? 0;
      const taken = total === 0 ? 0 : used(name);
      loads.allocatable[index] = total;
      loads.allocated[index] = taken;
      loads.requested[index] = total === 0 ? 0 : taken + amount;
    }
    return loads;
  };
}

function zeros(resources: readonly string[]): number[] {
  return resources.map(() => 0);
}

const PLAIN: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** `part` × 100 / `whole`, cut off, as 64-bit integers give it. */
export function percent(part: number, whole: number): number {
  const product = part * 100;
  if (Number.isSafeInteger(product)) return Math.trunc(product / whole);
  return Number((BigInt(part) * 100n) / BigInt(whole));
}

/** Resources to score, by weight. */
export function weightedResources(maximum: number) {
  return z
    .array(z.strictObject({ name: z.string().min(1), weight: z.int().min(1).max(maximum).default(1) }))
    .min(1)
    .default([
      { name: "cpu", weight: 1 },
      { name: "memory", weight: 1 },
    ]);
}
