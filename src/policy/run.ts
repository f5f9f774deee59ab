import { type Facts, gather } from "./lookup.ts";
import type { AnyPlugin, Judge, RawScore, Rejection } from "./plugin.ts";
import type { Policy, PolicyPlugin } from "./policy.ts";
import { type Lookup, Unreadable } from "./view.ts";

/** A plugin's refusal of one node. */
export interface Refusal extends Rejection {
  readonly plugin: string;
  /** The field of the node that could not be read, for logs and explanations only: never part of the reason. */
  readonly unreadable?: Unreadable;
}

/** What the policy says of one node: refused, or a raw score for each of the policy's columns. */
export type Row = { readonly refusal: Refusal } | { readonly scores: readonly RawScore[] };

/** What one plugin saw and thought of one node. */
export interface Finding {
  readonly plugin: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly refusal?: Rejection;
  readonly score?: RawScore;
}

/** One pod's decisions under one policy. */
export interface Cycle {
  /** The first refusal of a node, in the order of the profile's plugins. */
  filter(node: Lookup): Refusal | undefined;
  /**
   * A row for each node, in order. Plugins that compare nodes see those that nobody refused.
   *
   * @param each where lookups stand for several nodes: for each row, the place of its lookup
   */
  rows(nodes: readonly Lookup[], each?: readonly number[]): Row[];
  /** The row of one node alone, from what each of the policy's plugins reads of it, in their order. */
  row(facts: readonly (Facts | Unreadable)[]): Row;
  /** Everything each plugin saw and thought, for each node. */
  explain(nodes: readonly Lookup[]): Finding[][];
}

/** A pod that cannot be judged because a field of it cannot be understood. */
export interface PodFault {
  readonly plugin: string;
  readonly unreadable: Unreadable;
}

/** A plugin threw: a bug of the plugin, not of the request. Message: the plugin's name and the cause. */
export class PluginError extends Error {
  readonly plugin: string;

  constructor(plugin: string, cause: unknown) {
    super(`plugin ${plugin} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.plugin = plugin;
  }
}

/** The one reason for a node with a field that a plugin has to read and cannot. */
export const UNREADABLE_NODE = "node(s) had a field that the policy could not read";

/**
 * Prepares a policy for one pod.
 *
 * @param pod answers for views of the pod
 * @param around answers for views of the fleet and the cluster
 * @throws {PluginError} when a plugin's own code fails, here or in the cycle
 */
export function prepare(policy: Policy, pod: Lookup, around: Lookup): Cycle | PodFault {
  const seats: Seat[] = [];
  for (const plugin of policy.plugins) {
    const podFacts = gather(plugin.views.pod, pod);
    if (podFacts instanceof Unreadable) return { plugin: plugin.spec.name, unreadable: podFacts };
    const aroundFacts = gather(plugin.views.around, around);
    if (aroundFacts instanceof Unreadable) return { plugin: plugin.spec.name, unreadable: aroundFacts };
    const judge = blame(plugin.spec, () => plugin.spec.prepare(plugin.args, podFacts, aroundFacts));
    seats.push({ plugin, judge });
  }
  return {
    filter: (node) => filterNode(seats, node),
    rows: (nodes, each) => judgeNodes(seats, nodes, each),
    row: (facts) => judgeAlone(seats, facts),
    explain: (nodes) => explainNodes(seats, nodes),
  };
}

interface Seat {
  readonly plugin: PolicyPlugin;
  readonly judge: Judge<unknown>;
}

type Judged = { readonly refusal: Refusal } | { readonly facts: Facts[] };

/** The first refusal of a node, or what each seat has read of it: facts are read once for filter and score. */
function judgeNode(seats: readonly Seat[], node: Lookup): Judged {
  const read: Facts[] = [];
  for (const seat of seats) {
    const facts = gather(seat.plugin.views.node, node);
    const verdict = ask(seat, facts);
    if (verdict) return { refusal: { plugin: seat.plugin.spec.name, ...verdict } };
    read.push(facts as Facts);
  }
  return { facts: read };
}

function filterNode(seats: readonly Seat[], node: Lookup): Refusal | undefined {
  const judged = judgeNode(seats, node);
  return "refusal" in judged ? judged.refusal : undefined;
}

function ask(seat: Seat, facts: Facts | Unreadable): (Rejection & { unreadable?: Unreadable }) | undefined {
  if (facts instanceof Unreadable) return { reason: UNREADABLE_NODE, unresolvable: true, unreadable: facts };
  return seat.judge.filter && blame(seat.plugin.spec, () => seat.judge.filter?.(facts));
}

function judgeNodes(
  seats: readonly Seat[],
  nodes: readonly Lookup[],
  each: readonly number[] = [...nodes.keys()],
): Row[] {
  const judged = nodes.map((node) => judgeNode(seats, node));
  // Who compares nodes has to see each of them, alike or not.
  const compared = seats.some(({ judge }) => judge.scoreAll !== undefined);
  const all = compared ? each.map((at) => judged[at] as Judged) : judged;
  const kept = all.flatMap((one) => ("facts" in one ? [one.facts] : []));
  const scored = scoreRows(seats, kept);
  let next = 0;
  const rows = all.map((one) => ("refusal" in one ? one : (scored[next++] as Row)));
  return compared ? rows : each.map((at) => rows[at] as Row);
}

function judgeAlone(seats: readonly Seat[], facts: readonly (Facts | Unreadable)[]): Row {
  for (let at = 0; at < seats.length; at++) {
    const verdict = ask(seats[at] as Seat, facts[at] as Facts);
    if (verdict) return { refusal: { plugin: (seats[at] as Seat).plugin.spec.name, ...verdict } };
  }
  return { scores: seats.flatMap((seat, at) => (scores(seat) ? [scoreAlone(seat, facts[at] as Facts)] : [])) };
}

/** Rows of nodes that nobody refused, from what each seat has read of them. */
function scoreRows(seats: readonly Seat[], nodes: readonly Facts[][]): Row[] {
  const columns = seats.flatMap((seat, at) => {
    return scores(seat)
      ? [
          scoreNodes(
            seat,
            nodes.map((facts) => facts[at] as Facts),
          ),
        ]
      : [];
  });
  return nodes.map((_, index) => ({ scores: columns.map((column) => column[index]) }));
}

/** Raw scores of one plugin. */
function scoreNodes({ plugin: { spec }, judge }: Seat, facts: readonly Facts[]): readonly RawScore[] {
  return blame(spec, () => {
    if (judge.scoreAll) return judge.scoreAll(facts);
    return facts.map((each) => judge.score?.(each));
  });
}

function scoreAlone(seat: Seat, facts: Facts): RawScore {
  if (seat.judge.scoreAll) return scoreNodes(seat, [facts])[0];
  return blame(seat.plugin.spec, () => seat.judge.score?.(facts));
}

function explainNodes(seats: readonly Seat[], nodes: readonly Lookup[]): Finding[][] {
  const columns = seats.filter(scores);
  const rows = judgeNodes(seats, nodes);
  return nodes.map((node, index) => {
    const row = rows[index];
    const raw = row && "scores" in row ? row.scores : [];
    return seats.map((seat) => explainPlugin(seat, node, raw[columns.indexOf(seat)]));
  });
}

function explainPlugin(seat: Seat, node: Lookup, score: RawScore): Finding {
  const facts = gather(seat.plugin.views.node, node);
  const refusal = ask(seat, facts);
  return {
    plugin: seat.plugin.spec.name,
    facts: facts instanceof Unreadable ? { [facts.field]: facts.problem } : facts,
    ...(refusal && { refusal: rejectionOf(refusal) }),
    ...(score !== undefined && { score }),
  };
}

function rejectionOf({ reason, reasons, unresolvable }: Rejection): Rejection {
  return { reason, ...(reasons && { reasons }), unresolvable };
}

function scores(seat: Seat): boolean {
  return seat.plugin.spec.scale !== undefined;
}

function blame<T>(spec: AnyPlugin, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new PluginError(spec.name, cause);
  }
}
