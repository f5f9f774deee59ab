import type { FleetFacts } from "../policy/facts.ts";
import { fleetLookup, objectLookup } from "../policy/lookup.ts";
import { columnsOf, nodePaths, type Policy, viewsOf } from "../policy/policy.ts";
import type { PolicySet } from "../policy/profile.ts";
import type { Row } from "../policy/run.ts";
import type { Lookup } from "../policy/view.ts";
import type { ExtenderArgs } from "../protocol/args.ts";
import { pathTree } from "../protocol/paths.ts";
import type { Decider, Deciders, Decision, DecisionVerb, Undecided } from "./decider.ts";
import { describeProfile } from "./describe.ts";
import { evaluateFacts } from "./evaluate.ts";
import { beginCycle, filterRow, startFiltering, undecidedOr } from "./filtering.ts";

/**
 * Deciders that know only what a request carries, and the facts of the fleet.
 *
 * @param now milliseconds since 1970
 */
export function localDeciders(set: PolicySet, now: () => number): Deciders {
  const around = fleetLookup(set.facts);
  const deciders = new Map<string, Decider>();
  for (const [name, policy] of set.policies)
    deciders.set(name, localDecider({ policy, facts: set.facts, around, now }));
  return (profile) => deciders.get(profile);
}

interface Local {
  readonly policy: Policy;
  readonly facts: FleetFacts;
  readonly around: Lookup;
  readonly now: () => number;
}

function localDecider(local: Local): Decider {
  const { policy } = local;
  const blind = blindness(policy);
  return {
    policy: `${policy.profile}@${policy.version}`,
    wanted: pathTree(nodePaths(policy)),
    decide: async (verb, args) => {
      const fault = blind ?? namesFault(policy, args);
      if (fault !== undefined) return { error: fault };
      const time = local.now();
      const nodes = args.nodes.map((node) => objectLookup(node.object, time));
      return decideByFacts(policy, verb, { pod: objectLookup(args.pod, time), nodes, around: local.around });
    },
    filtering: (pod) =>
      blind === undefined
        ? startFiltering({ policy, pod, around: local.around, time: local.now() })
        : { keep: () => false, decide: () => ({ error: blind }) },
    evaluate: async (question) => evaluateFacts(policy, local.around, question),
    describe: () => describeProfile(policy, local.facts),
  };
}

/** What a decision is made by. */
export interface Facts {
  readonly pod: Lookup;
  readonly nodes: readonly Lookup[];
  /** Where lookups stand for several nodes: for each row to come, the place of its lookup. Default: a row for each. */
  readonly each?: readonly number[];
  readonly around: Lookup;
}

/** Decides by facts, wherever they come from. */
export function decideByFacts(policy: Policy, verb: DecisionVerb, facts: Facts): Decision | Undecided {
  const { pod, nodes, each, around } = facts;
  return undecidedOr(() => {
    const cycle = beginCycle(policy, pod, around);
    if ("error" in cycle) return cycle;
    if (verb === "prioritize") return { columns: columnsOf(policy), rows: cycle.rows(nodes, each) };
    const rows = nodes.map((node) => filterRow(cycle, node));
    return { columns: columnsOf(policy), rows: each ? each.map((at) => rows[at] as Row) : rows };
  });
}

/** Why a function cannot decide this policy at all. */
function blindness(policy: Policy): string | undefined {
  for (const plugin of policy.plugins) {
    const view = viewsOf({ ...policy, plugins: [plugin] }).find((each) => each.of === "cluster" || !each.read);
    if (view) {
      return `plugin ${plugin.spec.name} reads ${view.name}, which is known only where the cluster is watched: ask the binder`;
    }
  }
  return undefined;
}

/** With names only, a policy that reads more of a node than its name would see empty nodes and refuse them all. */
function namesFault(policy: Policy, args: ExtenderArgs): string | undefined {
  if (args.form === "nodes") return undefined;
  const blind = nodePaths(policy).find((path) => path !== "metadata.name");
  return blind === undefined
    ? undefined
    : `profile ${policy.profile} reads ${blind} of each node, but the request has node names only: ` +
        "set nodeCacheCapable: false for this extender, or ask the binder";
}
