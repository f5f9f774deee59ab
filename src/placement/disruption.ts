import { field, isObject, type JsonObject } from "../protocol/json.ts";
import { readSelector } from "./label-selector.ts";
import type { PlacedPod } from "./model.ts";

/** Every place of a PodDisruptionBudget that {@link disruptionBudget} looks at. */
export const BUDGET_PATHS: readonly string[] = [
  "metadata.name",
  "metadata.namespace",
  "spec.selector",
  "status.disruptedPods",
  "status.disruptionsAllowed",
];

/** A PodDisruptionBudget, as far as evictions ask. */
export interface DisruptionBudget {
  /** How many more of its pods may go before it is violated. */
  readonly allowed: number;
  /** True for a pod whose eviction would count against it. */
  covers(pod: PlacedPod): boolean;
}

/**
 * Reads a PodDisruptionBudget as kube-scheduler's preemption does (`FilterVictimsWithPDBViolation` in
 * pkg/scheduler/framework/preemption/util.go, v1.37.2): an empty selector covers nothing, nor does one that is not
 * valid; pods in `status.disruptedPods` are accounted for already.
 */
export function disruptionBudget(object: JsonObject): DisruptionBudget {
  const namespace = field(field(object, "metadata"), "namespace");
  const selector = readSelector(field(field(object, "spec"), "selector"));
  const status = field(object, "status");
  const allowed = field(status, "disruptionsAllowed");
  const disrupted = field(status, "disruptedPods");
  return {
    allowed: typeof allowed === "number" ? allowed : 0,
    covers: (pod) => {
      if (selector === undefined || selector.empty || pod.namespace !== namespace) return false;
      const labels = field(field(pod.object, "metadata"), "labels");
      if (!isObject(labels) || Object.keys(labels).length === 0) return false;
      return selector.matches(labels) && field(disrupted, pod.name) === undefined;
    },
  };
}

/**
 * Counts the pods whose eviction violates a budget, as kube-scheduler counts them: in the order given, the most
 * important first, each takes one from the budgets that cover it, until one of them has none left.
 *
 * @param pods for each pod, the indexes of the budgets that cover it
 * @param allowed what each budget allows
 */
export function countViolations(pods: Iterable<readonly number[]>, allowed: readonly number[]): number {
  const left = [...allowed];
  const violates = (budget: number) => {
    const rest = (left[budget] ?? 0) - 1;
    left[budget] = rest;
    return rest < 0;
  };
  let violations = 0;
  for (const budgets of pods) if (budgets.some(violates)) violations++;
  return violations;
}
