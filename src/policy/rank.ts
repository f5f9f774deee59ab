import { extenderScore } from "../protocol/score.ts";
import type { RawScore, Scale } from "./plugin.ts";

/** A scoring plugin as data: what a ranker has to know of it, with or without its code. */
export interface Column {
  readonly plugin: string;
  readonly weight: number;
  readonly scale: Scale;
}

/** One node's raw scores, a value per column; undefined for a node that was refused. */
export type RawScores = readonly RawScore[] | undefined;

/**
 * Final scores 0…10 of nodes, in their order: scale each column over the nodes that were not refused, take the
 * weighted mean, round. Refused nodes get 0. A higher mean never gets a lower score.
 */
export function rank(columns: readonly Column[], rows: readonly RawScores[]): number[] {
  return weightedMeans(columns, rows).map(extenderScore);
}

/**
 * The weighted mean, 0…100, behind each node's final score. 0 for refused nodes and where no plugin scores. A plugin
 * that knows no node's score has nothing to say of this pod, and its weight does not count.
 */
export function weightedMeans(columns: readonly Column[], rows: readonly RawScores[]): number[] {
  const { sums, weight } = addUp(columns, rows);
  return weight === 0 ? sums : sums.map((sum) => sum / weight);
}

/** Each node's sum of weight × score, 0…100, over all plugins: what kube-scheduler compares nodes by. */
export function weightedSums(columns: readonly Column[], rows: readonly RawScores[]): number[] {
  return addUp(columns, rows).sums;
}

function addUp(columns: readonly Column[], rows: readonly RawScores[]): { sums: number[]; weight: number } {
  const sums = new Array<number>(rows.length).fill(0);
  let total = 0;
  for (const [index, { weight, scale }] of columns.entries()) {
    const raw = rows.map((row) => row?.[index]);
    if (!raw.some(isKnown)) continue;
    total += weight;
    const toScaled = scalingOf(scale, raw);
    for (let node = 0; node < sums.length; node++) sums[node] = (sums[node] ?? 0) + toScaled(raw[node]) * weight;
  }
  return { sums, weight: total };
}

function isKnown(score: RawScore): score is number {
  return score !== undefined && Number.isFinite(score);
}

/** Scales one plugin's raw scores to 0…100. Unknown and non-finite ones become 0 and do not move the others. */
export function scaleScores(scale: Scale, raw: readonly RawScore[]): number[] {
  return raw.map(scalingOf(scale, raw));
}

/** By hand: spreading thousands of nodes into one call of Math.max would exhaust the stack. */
function scalingOf(scale: Scale, raw: readonly RawScore[]): (score: RawScore) => number {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const score of raw) {
    if (!isKnown(score)) continue;
    if (score < lowest) lowest = score;
    if (score > highest) highest = score;
  }
  const toScaled = scaling(scale, lowest, highest);
  return (score) => (isKnown(score) ? clamp(toScaled(score)) : 0);
}

function scaling(scale: Scale, lowest: number, highest: number): (score: number) => number {
  switch (scale) {
    case "none":
    case "list":
      return (score) => score;
    case "max":
      return (score) => (highest > 0 ? wholeShare(score, highest) : 0);
    case "max-reversed":
      return (score) => (highest > 0 ? 100 - wholeShare(score, highest) : 100);
    case "range":
      return (score) => share(score - lowest, highest - lowest);
    case "range-reversed":
      return (score) => share(highest - score, highest - lowest);
  }
}

/** In whole numbers, as `DefaultNormalizeScore` of kube-scheduler's plugins/helper/normalize_score.go, v1.37.2. */
function wholeShare(score: number, highest: number): number {
  return Math.floor((100 * score) / highest);
}

/** Equal nodes are equally good: a range of zero makes all of them best. */
function share(part: number, whole: number): number {
  return whole > 0 ? (part / whole) * 100 : 100;
}

function clamp(score: number): number {
  return Math.min(100, Math.max(0, score));
}
