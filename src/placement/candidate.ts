import { field } from "../protocol/json.ts";
import { countViolations, type DisruptionBudget } from "./disruption.ts";
import type { PlacedPod } from "./model.ts";
import { isTerminating } from "./placed.ts";

/** A pod that may be evicted. */
export interface Candidate {
  readonly uid: string;
  readonly priority: number;
  /** Milliseconds since 1970; Infinity for a pod that has not started. */
  readonly started: number;
  /** True for a pod that is terminating already: naming it a victim costs nobody anything. */
  readonly leaving: boolean;
  /** Indexes of the budgets that cover it. */
  readonly budgets: readonly number[];
}

/** Whose eviction one asks about. */
export interface Preemptor {
  readonly uid: string;
  readonly priority: number;
}

/**
 * The pods of a node that the preemptor may evict, the most important first: those of lower priority that are not in a
 * terminal phase, which kube-scheduler does not know any more.
 */
export function candidatesOn(
  pods: readonly PlacedPod[],
  preemptor: Preemptor,
  budgets: readonly DisruptionBudget[],
): readonly Candidate[] {
  return pods
    .filter((pod) => !pod.terminal && pod.priority < preemptor.priority && pod.uid !== preemptor.uid && pod.uid !== "")
    .map((pod) => toCandidate(pod, budgets))
    .sort(byImportance);
}

function toCandidate(pod: PlacedPod, budgets: readonly DisruptionBudget[]): Candidate {
  const started = field(field(pod.object, "status"), "startTime");
  const time = typeof started === "string" ? Date.parse(started) : Number.NaN;
  return {
    uid: pod.uid,
    priority: pod.priority,
    started: Number.isNaN(time) ? Number.POSITIVE_INFINITY : time,
    leaving: isTerminating(pod),
    budgets: budgets.flatMap((budget, index) => (budget.covers(pod) ? [index] : [])),
  };
}

/**
 * The more important pod first, as kube-scheduler orders them (`MoreImportantPod` in pkg/scheduler/util/utils.go,
 * v1.37.2): the higher priority, then the earlier start; then by UID, so that the order is always the same.
 */
export function byImportance(left: Candidate, right: Candidate): number {
  if (left.priority !== right.priority) return right.priority - left.priority;
  if (left.started !== right.started) return left.started < right.started ? -1 : 1;
  return left.uid < right.uid ? -1 : 1;
}

/**
 * What evicting some pods costs. Pods that are terminating already cost nothing.
 *
 * The order is that in which kube-scheduler compares nodes (`pickOneNodeForPreemption` in
 * pkg/scheduler/framework/preemption/preemption.go, v1.37.2), used here to compare sets of victims within one node:
 * fewer violated budgets; then the lower highest priority; then the lower sum of priorities, each counted from the
 * lowest there is, so that a further victim always adds to it; then fewer pods; then the later start of the
 * earliest-started pod of the highest priority.
 */
export interface Cost {
  readonly violations: number;
  readonly highest: number;
  readonly sum: number;
  readonly pods: number;
  readonly started: number;
}

/** 2^31, which makes every priority at least 0: `math.MaxInt32+1` upstream. */
export const FROM_LOWEST = 2 ** 31;

/** The cost of evicting some pods. */
export function costOf(victims: readonly Candidate[], allowed: readonly number[]): Cost {
  const going = victims.filter(({ leaving }) => !leaving).sort(byImportance);
  const highest = going[0]?.priority ?? Number.NEGATIVE_INFINITY;
  return {
    violations: violationsOf(going, allowed),
    highest,
    sum: going.reduce((sum, { priority }) => sum + priority + FROM_LOWEST, 0),
    pods: going.length,
    started: going[0]?.started ?? Number.POSITIVE_INFINITY,
  };
}

/** How many of these evictions violate a budget; pods that are terminating already do not. */
export function violationsOf(victims: readonly Candidate[], allowed: readonly number[]): number {
  const going = victims.filter(({ leaving }) => !leaving).sort(byImportance);
  return countViolations(
    going.map(({ budgets }) => budgets),
    allowed,
  );
}

/** Negative when `left` is cheaper, 0 when they are the same. */
export function compareCosts(left: Cost, right: Cost): number {
  return (
    left.violations - right.violations ||
    orderOf(left.highest, right.highest) ||
    left.sum - right.sum ||
    left.pods - right.pods ||
    orderOf(right.started, left.started)
  );
}

/** Not a difference: both can be infinite. */
function orderOf(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
