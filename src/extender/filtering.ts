import { objectLookup } from "../policy/lookup.ts";
import { columnsOf, type Policy } from "../policy/policy.ts";
import { type Cycle, PluginError, prepare, type Row } from "../policy/run.ts";
import type { Lookup } from "../policy/view.ts";
import type { RequestNode } from "../protocol/args.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Filtering, Undecided } from "./decider.ts";

/** What a filter goes by, beside the nodes. */
export interface FilterFacts {
  readonly policy: Policy;
  readonly pod: JsonObject;
  readonly around: Lookup;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Filters nodes one by one, each once, with what filtering them all together would say. */
export function startFiltering(facts: FilterFacts): Filtering {
  const cycle = begin(facts);
  if ("error" in cycle) return { keep: () => false, decide: () => cycle };
  const rows = new Map<RequestNode, Row>();
  const judge = (node: RequestNode): Row => {
    const row = rows.get(node) ?? filterRow(cycle, objectLookup(node.object, facts.time));
    rows.set(node, row);
    return row;
  };
  return {
    // A plugin that fails for a node fails again when the node still counts at the end.
    keep: (node) => undecidedOr(() => !("refusal" in judge(node))) === true,
    decide: (nodes) => undecidedOr(() => ({ columns: columnsOf(facts.policy), rows: nodes.map(judge) })),
  };
}

function begin({ policy, pod, around, time }: FilterFacts): Cycle | Undecided {
  return undecidedOr(() => beginCycle(policy, objectLookup(pod, time), around));
}

/** A policy's cycle for a pod, or why the pod cannot be judged. Throws PluginError when a plugin's own code fails. */
export function beginCycle(policy: Policy, pod: Lookup, around: Lookup): Cycle | Undecided {
  const cycle = prepare(policy, pod, around);
  return "unreadable" in cycle ? { error: `plugin ${cycle.plugin}: pod field ${cycle.unreadable}` } : cycle;
}

/** Filter needs no scores, so none are made. */
export function filterRow(cycle: Cycle, node: Lookup): Row {
  const refusal = cycle.filter(node);
  return refusal ? { refusal } : { scores: [] };
}

/** What comes of work with plugins, or why one of them failed. */
export function undecidedOr<T>(work: () => T): T | Undecided {
  try {
    return work();
  } catch (error) {
    if (error instanceof PluginError) return { error: error.message };
    throw error;
  }
}
