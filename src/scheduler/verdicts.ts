import { LRUCache } from "lru-cache";
import { objectLookup } from "../policy/lookup.ts";
import type { RawScore } from "../policy/plugin.ts";
import type { Policy, PolicyPlugin } from "../policy/policy.ts";
import { type Cycle, type PodFault, prepare, type Row } from "../policy/run.ts";
import type { Lookup, View } from "../policy/view.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { KnownNode } from "./cluster.ts";
import { factsOfNode, isRecent } from "./node-facts.ts";
import { podText } from "./pod-text.ts";

/** What plugins think of one node, for one pod and all others with the same facts. */
export interface Verdicts {
  row(node: KnownNode): Row;
}

/** Kinds of pods that verdicts are kept for. */
const KEPT_KINDS = 256;
/** Pods whose kind is known by their text alone. */
const KEPT_TEXTS = 4_096;

/**
 * Keeps what plugins think of nodes. Pods are often many of one kind, and a bind changes one node only: a row stays until
 * the node, or a pod on it, changes. Kinds that differ in their requests alone share what does not depend on the pods of
 * a node, which a bind does not change either.
 *
 * @param policy plugins that say the same of all pods with the same facts, and of a node as long as it stays as it is
 */
export function createVerdicts(policy: Policy, { around }: { readonly around: Lookup }) {
  const { still, moving } = divide(policy);
  const [stillKinds, movingKinds] = [createKinds(still, around), createKinds(moving, around)];
  const merge = rowMerge(policy, still.plugins.length);
  return (pod: JsonObject, now: number): Verdicts | PodFault => {
    const [one, other] = [stillKinds(pod, now), movingKinds(pod, now)];
    if ("unreadable" in one) return one;
    if ("unreadable" in other) return other;
    const rows = other.beside(one);
    const judge = (node: KnownNode): Row => {
      const own = one.rows.of(node, node.version, () => one.cycle.row(factsOfNode(node, still, now)));
      if ("refusal" in own) return own;
      return merge(own, other.cycle.row(factsOfNode(node, moving, now)));
    };
    return { row: (node) => rows.of(node, node.generation, () => judge(node)) };
  };
}

/**
 * The plugins that look at nothing but the node itself, from the first on, and the rest: so the first refusal of all is
 * found in the profile's order.
 */
function divide(policy: Policy): { readonly still: Policy; readonly moving: Policy } {
  const first = policy.plugins.findIndex((plugin) => !isStill(plugin));
  const at = first < 0 ? policy.plugins.length : first;
  const part = (plugins: readonly PolicyPlugin[]): Policy => ({ ...policy, plugins });
  return { still: part(policy.plugins.slice(0, at)), moving: part(policy.plugins.slice(at)) };
}

function isStill({ views }: PolicyPlugin): boolean {
  return Object.values(views.node).every(({ pace }) => pace === "slow");
}

/** Puts the rows of both parts together, which follow each other in the profile. */
function rowMerge({ plugins }: Policy, first: number) {
  const scored = (part: readonly PolicyPlugin[]) => part.some(({ spec }) => spec.scale !== undefined);
  const [left, right] = [scored(plugins.slice(0, first)), scored(plugins.slice(first))];
  return (one: { readonly scores: readonly RawScore[] }, other: Row): Row => {
    if ("refusal" in other || !left) return other;
    return right ? { scores: [...one.scores, ...other.scores] } : one;
  };
}

interface Kind {
  readonly cycle: Cycle;
  readonly since: number;
  readonly rows: Rows;
  /** Rows for pods that are of another kind, too, in what other plugins read. */
  beside(other: Kind): Rows;
}

/** Gives the kind of a pod: one for all pods of which the plugins read the same. */
function createKinds(policy: Policy, around: Lookup) {
  const views = [...new Set(policy.plugins.flatMap(({ views }) => Object.values(views.pod)))];
  const textOf = podText(views.flatMap(({ paths }) => paths));
  const kinds = new LRUCache<string, Kind>({ max: KEPT_KINDS });
  const texts = new LRUCache<string, string>({ max: KEPT_TEXTS });
  return (pod: JsonObject, now: number): Kind | PodFault => {
    const text = textOf(pod);
    const known = kinds.get(texts.get(text) ?? "");
    if (known !== undefined && isRecent(known.since, now)) return known;
    const look = remembering(objectLookup(pod, now));
    const key = keyOf(views, look);
    texts.set(text, key);
    const same = kinds.get(key);
    if (same !== undefined && isRecent(same.since, now)) return same;
    const cycle = prepare(policy, look, around);
    if ("unreadable" in cycle) return cycle;
    const kind = createKind(cycle, now);
    kinds.set(key, kind);
    return kind;
  };
}

function createKind(cycle: Cycle, since: number): Kind {
  const besides = new WeakMap<Kind, Rows>();
  return {
    ...{ cycle, since, rows: createRows() },
    beside(other) {
      const known = besides.get(other) ?? createRows();
      besides.set(other, known);
      return known;
    },
  };
}

interface Rows {
  /** The row of a node, made anew when it is of an older state. */
  of(node: KnownNode, state: number, make: () => Row): Row;
}

function createRows(): Rows {
  const rows: (Row | undefined)[] = [];
  const states: number[] = [];
  return {
    of({ slot }, state, make) {
      const known = states[slot] === state ? rows[slot] : undefined;
      if (known !== undefined) return known;
      const row = make();
      states[slot] = state;
      rows[slot] = row;
      return row;
    },
  };
}

function remembering(look: Lookup): Lookup {
  const known = new Map<View<unknown>, unknown>();
  return (view) => {
    if (!known.has(view)) known.set(view, look(view));
    return known.get(view) as never;
  };
}

/** Everything that the plugins read of a pod, as text. */
function keyOf(views: readonly View<unknown>[], look: Lookup): string {
  return JSON.stringify(views.map(look), (_, value) => (typeof value === "bigint" ? String(value) : value));
}
