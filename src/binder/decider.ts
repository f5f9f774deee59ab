import type { Decider, Decision, DecisionVerb, Undecided } from "../extender/decider.ts";
import { describeProfile } from "../extender/describe.ts";
import { evaluateFacts } from "../extender/evaluate.ts";
import { decideByFacts } from "../extender/local.ts";
import type { PlacedNode } from "../placement/model.ts";
import { placedPod } from "../placement/placed.ts";
import { objectLookup } from "../policy/lookup.ts";
import type { Row } from "../policy/run.ts";
import type { ExtenderArgs } from "../protocol/args.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { pathTree } from "../protocol/paths.ts";
import { ShapeError } from "../protocol/scan.ts";
import { isStandIn } from "../remote/stand-in.ts";
import { type LivePolicy, liveNodes, livePolicyFault, nameOf, policyFor } from "./live.ts";

/** How long a node that is asked about may still become known, in milliseconds. */
const NEW_NODE_MS = 200;

/** kube-scheduler may have heard of a node before the binder has; the next attempt finds it. */
const UNKNOWN_NODE: Row = {
  refusal: { plugin: "Binder", reason: "node(s) were not known to the binder yet", unresolvable: true },
};

/** As the bind would be refused; the binder wakes the pods that wait once the ledger is open. */
const CLOSED_NODE: Row = {
  refusal: {
    plugin: "Binder",
    reason: "node(s) had a device ledger that was made anew a moment ago",
    unresolvable: true,
  },
};

/** Until an upgrade is over; a bind would be refused, and again and again where the node scores best. */
const NEWER_NODE: Row = {
  refusal: {
    plugin: "Binder",
    reason: "node(s) had a device ledger that a newer release of the binder has written",
    unresolvable: true,
  },
};

/**
 * Decides from what the cluster is now: of a request only the pod and the names of the nodes count.
 *
 * @param unready why nothing can be decided yet, or undefined
 */
export function liveDecider(live: LivePolicy, unready: () => string | undefined): Decider {
  const { policy, facts, around } = live;
  const fault = livePolicyFault(policy);
  return {
    policy: nameOf(live),
    wanted: pathTree([]),
    decide: async (verb, args) => {
      const error = unready() ?? fault;
      return error === undefined ? decideLive(live, verb, args) : { error };
    },
    evaluate: async (question) => {
      refuseStandIns(live, question);
      return evaluateFacts(policy, around, question);
    },
    describe: () => describeProfile(policy, facts),
  };
}

/** For a profile of a function that has not come yet: the paths are there, and say why nothing can be decided. */
export function absentDecider(profile: string): Decider {
  const error = `The policy of profile ${profile} has not come from the function yet`;
  return {
    policy: `${profile}@none`,
    wanted: pathTree([]),
    decide: async () => ({ error }),
    evaluate: async () => {
      throw new ShapeError(error);
    },
    describe: () => ({ error }),
  };
}

/** A plugin that is elsewhere would seem to have nothing to say. */
function refuseStandIns({ policy }: LivePolicy, question: JsonObject): void {
  const asked = field(question, "plugins");
  const away = policy.plugins.filter(isStandIn).map(({ spec }) => spec.name);
  const chosen = Array.isArray(asked) ? away.filter((name) => asked.includes(name)) : away;
  if (chosen.length > 0) throw new ShapeError(`only the function has ${chosen.join(", ")}: ask it instead`);
}

/** Decides by one version of a policy, from what the cluster is now. */
export async function decideLive(
  live: LivePolicy,
  verb: DecisionVerb,
  args: Pick<ExtenderArgs, "pod" | "nodes">,
): Promise<Decision | Undecided> {
  const look = () => args.nodes.map(({ name }) => live.state.nodes.get(name));
  let found = look();
  if (found.includes(undefined)) {
    await Promise.all(args.nodes.map(({ name }) => live.state.nodes.wait(name, NEW_NODE_MS)));
    found = look();
  }
  const policy = await policyFor(live, args.pod, look);
  // Nodes may have changed while a function was asked.
  if (live.far) found = look();
  const { uid, priority, request } = placedPod(args.pod);
  const now = live.now();
  const barred = found.map((node) => {
    if (node === undefined) return UNKNOWN_NODE;
    return request > 0n ? barredBy(live.state, node.name, now) : undefined;
  });
  const open = found.filter((node, index) => node !== undefined && barred[index] === undefined) as PlacedNode[];
  const decision = decideByFacts(policy, verb, {
    pod: objectLookup(args.pod, now),
    ...liveNodes(live, open, { for: { uid, priority } }),
    around: live.around,
  });
  if ("error" in decision || open.length === found.length) return decision;
  let next = 0;
  return { ...decision, rows: barred.map((row) => row ?? (decision.rows[next++] as Row)) };
}

/** Why no pod is given a device of the node at all, if so. */
export function barredBy(state: LivePolicy["state"], name: string, now: number): Row | undefined {
  if (state.newer(name)) return NEWER_NODE;
  return state.closed(name, now) ? CLOSED_NODE : undefined;
}
