import type { Decision } from "../extender/decider.ts";
import { type Column, rank, scaleScores } from "../policy/rank.ts";
import type { Row } from "../policy/run.ts";

/** How two policies differ about one pod. */
export interface Difference {
  /** `verdict`: one keeps a node that the other refuses. `order`: they would not choose the same nodes. */
  readonly kind: "verdict" | "order";
  /** Which plugins make the difference. */
  readonly plugins: readonly string[];
  /** Indices of nodes that show it, the plainest first. */
  readonly nodes: readonly number[];
}

/** What differs between two decisions about the same pod and nodes; empty when nothing does. */
export function compare(one: Decision, other: Decision): readonly Difference[] {
  return [verdicts(one, other), order(one, other)].filter((difference) => difference !== undefined);
}

function verdicts(one: Decision, other: Decision): Difference | undefined {
  const plugins = new Set<string>();
  const nodes: number[] = [];
  for (const [index, row] of one.rows.entries()) {
    const [left, right] = [refusedBy(row), refusedBy(other.rows[index])];
    if ((left === undefined) === (right === undefined)) continue;
    plugins.add(left ?? right ?? "");
    nodes.push(index);
  }
  return nodes.length === 0 ? undefined : { kind: "verdict", plugins: [...plugins], nodes };
}

function refusedBy(row: Row | undefined): string | undefined {
  return row && "refusal" in row ? row.refusal.plugin : undefined;
}

/** Of the nodes that both keep: other nodes are best, or two nodes stand the other way round. Filter makes no scores. */
function order(one: Decision, other: Decision): Difference | undefined {
  const both = one.rows.flatMap((row, index) => (scored(row) && scored(other.rows[index]) ? [index] : []));
  if (both.length < 2) return undefined;
  const [left, right] = [integers(one, both), integers(other, both)];
  if (sameBest(left, right) && !turned(left, right)) return undefined;
  const pick = [bestOf(left), bestOf(right)].map((at) => both[at] as number);
  return { kind: "order", plugins: movers([one, other], both), nodes: [...new Set(pick)] };
}

function scored(row: Row | undefined): boolean {
  return row !== undefined && "scores" in row && row.scores.length > 0;
}

function integers({ columns, rows }: Decision, nodes: readonly number[]): number[] {
  return rank(
    columns,
    nodes.map((index) => scoresOf(rows[index])),
  );
}

function scoresOf(row: Row | undefined) {
  return row && "scores" in row ? row.scores : undefined;
}

function bestOf(scores: readonly number[]): number {
  return scores.reduce((best, score, index) => (score > (scores[best] ?? 0) ? index : best), 0);
}

function sameBest(left: readonly number[], right: readonly number[]): boolean {
  const [most, more] = [left[bestOf(left)], right[bestOf(right)]];
  return left.every((score, index) => (score === most) === (right[index] === more));
}

/** Scores are 0…10, so a few extremes tell whether any two nodes stand the other way round. */
function turned(left: readonly number[], right: readonly number[]): boolean {
  const lowest = new Array<number>(11).fill(Number.POSITIVE_INFINITY);
  const highest = new Array<number>(11).fill(Number.NEGATIVE_INFINITY);
  for (const [index, score] of left.entries()) {
    lowest[score] = Math.min(lowest[score] ?? 0, right[index] ?? 0);
    highest[score] = Math.max(highest[score] ?? 0, right[index] ?? 0);
  }
  let below = Number.NEGATIVE_INFINITY;
  for (let score = 0; score <= 10; score++) {
    if ((lowest[score] ?? 0) < below) return true;
    below = Math.max(below, highest[score] ?? 0);
  }
  return false;
}

/** Plugins that score otherwise, weigh otherwise, or are in one policy only. */
function movers(decisions: readonly [Decision, Decision], nodes: readonly number[]): string[] {
  const names = new Set(decisions.flatMap(({ columns }) => columns.map(({ plugin }) => plugin)));
  return [...names].filter((name) => {
    const [left, right] = decisions.map((decision) => told(decision, name, nodes));
    return left !== right;
  });
}

function told({ columns, rows }: Decision, plugin: string, nodes: readonly number[]): string {
  const at = columns.findIndex((column) => column.plugin === plugin);
  const column: Column | undefined = columns[at];
  if (column === undefined) return "";
  const raw = nodes.map((index) => scoresOf(rows[index])?.[at]);
  return JSON.stringify([column.weight, scaleScores(column.scale, raw).map((score) => score.toFixed(6))]);
}
