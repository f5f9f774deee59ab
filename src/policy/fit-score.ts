import { percent, type ResourceLoads } from "./resource-score.ts";

/** A point of a utilization curve: percent in use, and a score 0…10. */
export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

/** How NodeResourcesFit scores nodes. */
export interface ScoringStrategy {
  readonly type: "LeastAllocated" | "MostAllocated" | "RequestedToCapacityRatio";
  readonly resources: readonly { readonly name: string; readonly weight: number }[];
  readonly requestedToCapacityRatio?: { readonly shape: readonly ShapePoint[] } | undefined;
}

/** Scores loads 0…100 by a strategy: noderesources/{least,most}_allocated.go and requested_to_capacity_ratio.go, v1.37.2. */
export function fitScorer(strategy: ScoringStrategy): (loads: ResourceLoads) => number {
  const weights = strategy.resources.map(({ weight }) => weight);
  switch (strategy.type) {
    case "LeastAllocated":
      return (loads) => Math.trunc(weightedMean(loads, weights, leastAllocated));
    case "MostAllocated":
      return (loads) => Math.trunc(weightedMean(loads, weights, mostAllocated));
    case "RequestedToCapacityRatio": {
      const curve = brokenLine(strategy.requestedToCapacityRatio?.shape ?? []);
      const score = (requested: number, capacity: number) =>
        curve(requested > capacity ? 100 : percent(requested, capacity));
      // A resource that scores nothing does not count at all.
      return (loads) => Math.round(weightedMean(loads, weights, (r, c) => score(r, c) || undefined));
    }
  }
}

function leastAllocated(requested: number, capacity: number): number {
  return requested > capacity ? 0 : percent(capacity - requested, capacity);
}

function mostAllocated(requested: number, capacity: number): number {
  return percent(Math.min(requested, capacity), capacity);
}

/** The mean over the resources that the node has and that are given a score; 0 where there are none. */
function weightedMean(
  { requested, allocatable }: ResourceLoads,
  weights: readonly number[],
  score: (requested: number, capacity: number) => number | undefined,
): number {
  let sum = 0;
  let total = 0;
  for (const [index, weight] of weights.entries()) {
    const capacity = allocatable[index] ?? 0;
    const scored = capacity === 0 ? undefined : score(requested[index] ?? 0, capacity);
    if (scored === undefined) continue;
    sum += scored * weight;
    total += weight;
  }
  return total === 0 ? 0 : sum / total;
}

/** `BuildBrokenLinearFunction` of plugins/helper/shape_score.go, v1.37.2, with scores 0…10 stretched to 0…100. */
function brokenLine(shape: readonly ShapePoint[]): (utilization: number) => number {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * 10 }));
  return (utilization) => {
    const index = points.findIndex((point) => utilization <= point.utilization);
    const right = points.at(index);
    const left = index > 0 ? points[index - 1] : undefined;
    if (right === undefined || left === undefined) return right?.score ?? 0;
    const rise = (right.score - left.score) * (utilization - left.utilization);
    return left.score + Math.trunc(rise / (right.utilization - left.utilization));
  };
}
