import type { PlacedPod } from "../placement/model.ts";
import { objectLookup } from "../policy/lookup.ts";
import type { RawScore } from "../policy/plugin.ts";
import { columnsOf, type Policy, type PolicyPlugin } from "../policy/policy.ts";
import { type Cycle, prepare, type Refusal, type Row } from "../policy/run.ts";
import type { Lookup, Unreadable, View } from "../policy/view.ts";
import { devices } from "../policy/views/devices.ts";
import { nodeUsage } from "../policy/views/node-usage.ts";
import { isStandIn } from "../remote/stand-in.ts";
import type { KnownNode } from "./cluster.ts";

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

/** How long a verdict may be repeated, in milliseconds: a view may depend on the time. */
const KEPT_FOR = 10_000;
/** Kinds of pods that verdicts are kept for. */
const KEPT_KINDS = 256;

/**
 * Judges a pod; gives a sentence instead when a field of the pod cannot be read.
 *
 * @param answered the policy with what its function has said of this pod, where plugins of it are only there
 */
export type Judge = (pod: PlacedPod, answered?: Policy) => PodJudge | { readonly fault: string };

/**
 * Judges pods by a policy. Pods are often many of one kind, and a bind changes one node only: what a plugin thinks of a
 * node is kept for all pods with the same facts until the node, or a pod on it, changes. Plugins that compare nodes,
 * look at devices or at what makes one pod different from another of its kind are asked each time, after the others.
 */
export function createJudge(policy: Policy, sources: JudgeSources): Judge {
  const kept = { ...policy, plugins: policy.plugins.filter(isRepeatable) };
  const memory = createMemory(kept, sources);
  const merge = columnMerge(policy);
  return (pod, answered = policy) => {
    const asked = { ...policy, plugins: answered.plugins.filter((_, at) => !isRepeatable(policy.plugins[at])) };
    const look = objectLookup(pod.object, sources.now());
    const known = memory(pod, look);
    const fresh = prepare(asked, look, sources.around);
    if ("unreadable" in known) return faultOf(known);
    if ("unreadable" in fresh) return faultOf(fresh);
    const lookup = (node: KnownNode) => nodeLookup(node, pod, sources);
    return {
      refusal(node) {
        const row = known.row(node);
        if ("refusal" in row) return row.refusal;
        return asked.plugins.length === 0 ? undefined : fresh.filter(lookup(node));
      },
      scores(nodes) {
        const again = asked.plugins.length === 0 ? [] : fresh.rows(nodes.map(lookup));
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

function scoresOf(row: Row | undefined): readonly RawScore[] {
  return row !== undefined && "scores" in row ? row.scores : [];
}

/** A node's facts: what its pods take and its devices as known here, everything else as the node itself says. */
function nodeLookup(node: KnownNode, pod: PlacedPod, sources: JudgeSources): Lookup {
  return <T>(view: View<T>): T | Unreadable => {
    if (view.name === nodeUsage.name) return node.usage as T;
    if (view.name === devices.name) return { value: sources.devices(node, pod) } as T;
    return kept(node, view, sources.now());
  };
}

function kept<T>({ node, facts }: KnownNode, view: View<T>, now: number): T | Unreadable {
  if (!isRecent(facts.since, now)) Object.assign(facts, { since: now, values: new Map() });
  const known = facts.values.get(view);
  if (known !== undefined) return known as T | Unreadable;
  const fact = objectLookup(node.object, now)(view);
  facts.values.set(view, fact);
  return fact;
}

/** The clock may have been set back. */
function isRecent(since: number, now: number): boolean {
  return now >= since && now < since + KEPT_FOR;
}

interface Kind {
  readonly cycle: Cycle;
  readonly since: number;
  readonly rows: (Row | undefined)[];
  readonly generations: number[];
}

function createMemory(policy: Policy, sources: JudgeSources) {
  const kinds = new Map<string, Kind>();
  const views = [...new Set(policy.plugins.flatMap(({ views }) => Object.values(views.pod)))];
  const open = (key: string, look: Lookup) => {
    const [known, now] = [kinds.get(key), sources.now()];
    if (known !== undefined && isRecent(known.since, now)) return known;
    const cycle = prepare(policy, look, sources.around);
    if ("unreadable" in cycle) return cycle;
    const kind: Kind = { cycle, since: now, rows: [], generations: [] };
    kinds.delete(key);
    const [oldest] = kinds.keys();
    if (kinds.size >= KEPT_KINDS && oldest !== undefined) kinds.delete(oldest);
    kinds.set(key, kind);
    return kind;
  };
  return (pod: PlacedPod, look: Lookup) => {
    const kind = open(keyOf(views, look), look);
    if ("unreadable" in kind) return kind;
    return {
      row(node: KnownNode): Row {
        const known = kind.generations[node.slot] === node.generation ? kind.rows[node.slot] : undefined;
        if (known !== undefined) return known;
        const [row] = kind.cycle.rows([nodeLookup(node, pod, sources)]) as [Row];
        kind.generations[node.slot] = node.generation;
        kind.rows[node.slot] = row;
        return row;
      },
    };
  };
}

/** Everything that the plugins read of a pod, as text: pods with the same text are of one kind. */
function keyOf(views: readonly View<unknown>[], look: Lookup): string {
  return JSON.stringify(views.map(look), (_, value) => (typeof value === "bigint" ? String(value) : value));
}
