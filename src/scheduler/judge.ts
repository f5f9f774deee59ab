import type { PlacedPod } from "../placement/model.ts";
import { objectLookup } from "../policy/lookup.ts";
import type { RawScore } from "../policy/plugin.ts";
import { columnsOf, type Policy, type PolicyPlugin } from "../policy/policy.ts";
import { prepare, type Refusal, type Row } from "../policy/run.ts";
import type { Lookup, Unreadable } from "../policy/view.ts";
import { devices } from "../policy/views/devices.ts";
import { isStandIn } from "../remote/stand-in.ts";
import type { KnownNode } from "./cluster.ts";
import { nodeLookup } from "./node-facts.ts";
import { createVerdicts } from "./verdicts.ts";

/** What a policy says of one pod and the nodes. */
export interface PodJudge {
  refusal(node: KnownNode): Refusal | undefined;
  /** Raw scores of nodes that were not refused, a column for each plugin that scores, in the profile's order. */
  scores(nodes: readonly KnownNode[]): (readonly RawScore[])[];
}

/** Where facts come from that no object holds. */
export interface JudgeSources {
  readonly around: Lookup;
  /** The node's devices as they are held now, for a pod. */
  devices(node: KnownNode, pod: PlacedPod): unknown;
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * Judges a pod; gives a sentence instead when a field of the pod cannot be read.
 *
 * @param answered the policy with what its function has said of this pod, where plugins of it are only there
 */
export type Judge = (pod: PlacedPod, answered?: Policy) => PodJudge | { readonly fault: string };

/**
 * Judges pods by a policy. What plugins think of a node is kept for all pods with the same facts (`verdicts.ts`).
 * Plugins that compare nodes, look at devices or at what makes one pod different from another of its kind are asked
 * each time, after the others.
 */
export function createJudge(policy: Policy, sources: JudgeSources): Judge {
  const kept = { ...policy, plugins: policy.plugins.filter(isRepeatable) };
  const verdicts = createVerdicts(kept, sources);
  const merge = columnMerge(policy);
  const isWhole = kept.plugins.length === policy.plugins.length;
  return (pod, answered = policy) => {
    const now = sources.now();
    const known = verdicts(pod.object, now);
    if ("unreadable" in known) return faultOf(known);
    if (isWhole) {
      return {
        refusal: (node) => refusalIn(known.row(node)),
        scores: (nodes) => nodes.map((node) => scoresOf(known.row(node))),
      };
    }
    const asked = { ...policy, plugins: answered.plugins.filter((_, at) => !isRepeatable(policy.plugins[at])) };
    const fresh = prepare(asked, objectLookup(pod.object, now), sources.around);
    if ("unreadable" in fresh) return faultOf(fresh);
    const lookup = (node: KnownNode) => nodeLookup(node, now, () => sources.devices(node, pod));
    return {
      refusal: (node) => refusalIn(known.row(node)) ?? fresh.filter(lookup(node)),
      scores(nodes) {
        const again = fresh.rows(nodes.map(lookup));
        return nodes.map((node, index) => merge(scoresOf(known.row(node)), scoresOf(again[index])));
      },
    };
  };
}

function faultOf({ plugin, unreadable }: { readonly plugin: string; readonly unreadable: Unreadable }) {
  return { fault: `plugin ${plugin}: pod field ${unreadable}` };
}

function isRepeatable(plugin: PolicyPlugin | undefined): boolean {
  if (plugin === undefined || isStandIn(plugin)) return false;
  const { spec, views } = plugin;
  return (
    spec.scale !== "list" &&
    Object.values(views.pod).every(({ pace }) => pace === "slow") &&
    !Object.values(views.node).some(({ name }) => name === devices.name)
  );
}

/** Puts the scores of both kinds of plugins back in the profile's order. */
function columnMerge(policy: Policy): (kept: readonly RawScore[], asked: readonly RawScore[]) => readonly RawScore[] {
  const repeatable = policy.plugins.filter(({ spec }) => spec.scale !== undefined).map(isRepeatable);
  if (repeatable.every((each) => each)) return (kept) => kept;
  const places = columnsOf(policy).map((_, index) => ({
    kept: repeatable[index] === true,
    at: repeatable.slice(0, index).filter((each) => each === repeatable[index]).length,
  }));
  return (kept, asked) => places.map((place) => (place.kept ? kept : asked)[place.at]);
}

function refusalIn(row: Row): Refusal | undefined {
  return "refusal" in row ? row.refusal : undefined;
}

function scoresOf(row: Row | undefined): readonly RawScore[] {
  return row !== undefined && "scores" in row ? row.scores : [];
}
