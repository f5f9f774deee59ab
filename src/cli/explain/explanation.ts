import { type Column, scaleScores, weightedMeans } from "../../policy/rank.ts";
import { field, isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import { extenderScore } from "../../protocol/score.ts";

/** One plugin's part in one node's fate. Numbers are null where it has nothing to say. */
export interface PluginPart {
  readonly plugin: string;
  /** What it saw of the node, by the names of its views. */
  readonly facts: JsonObject;
  /** Why it refuses the node; empty where it does not. */
  readonly reasons: readonly string[];
  /** In its own unit. */
  readonly raw: number | null;
  /** 0…100 over the nodes that were kept. */
  readonly scaled: number | null;
  /** Its share of the node's mean, 0…100: scaled × weight ÷ the sum of weights. */
  readonly weighted: number | null;
  /** How much less that is than the best node's; null for the best node and refused ones. */
  readonly behind: number | null;
  readonly weight: number | null;
}

/** What became of one node. */
export interface NodePart {
  readonly node: string;
  readonly verdict: "kept" | "refused";
  /** The best of all; the first of several that are as good. */
  readonly best: boolean;
  /** Every reason of every plugin; `unresolvable`: eviction would not help. */
  readonly reasons: readonly { readonly plugin: string; readonly reason: string; readonly unresolvable: boolean }[];
  readonly plugins: readonly PluginPart[];
  /** The weighted mean, 0…100; null for a refused node. */
  readonly mean: number | null;
  /** 0…10, as kube-scheduler gets it. */
  readonly score: number;
}

/** A decision with everything that led to it; the best node first, refused ones last. */
export interface Explanation {
  readonly pod: string;
  /** `<profile>@<version>` */
  readonly policy: string;
  /** Where pod and nodes are from, and as of when. */
  readonly source: string;
  /** Where the pod is already; it is judged as if it were not. */
  readonly boundTo?: string;
  readonly nodes: readonly NodePart[];
}

/** What was asked about. */
export interface Asked {
  readonly pod: string;
  readonly source: string;
  readonly boundTo?: string;
  /** Names, in the order of the question. */
  readonly nodes: readonly string[];
  /** Nodes that take no pod for a reason outside the policy. */
  readonly barred?: ReadonlyMap<string, string>;
}

/** Puts an answer of `evaluate` with `explain: true` into an explanation. */
export function explanation(asked: Asked, answer: JsonObject): Explanation {
  const columns = list(answer, "columns") as unknown as readonly Column[];
  const rows = list(answer, "rows").map((row, index) =>
    asked.barred?.has(asked.nodes[index] ?? "") ? undefined : scoresOf(row),
  );
  const means = weightedMeans(columns, rows);
  const context: Context = { shares: sharesOf(columns, rows), rows, means, best: bestOf(rows, means) };
  const findings = list(answer, "findings").map((each) => (Array.isArray(each) ? (each as readonly Json[]) : []));
  const nodes = asked.nodes.map((node, index) =>
    nodePart(context, { node, index, findings: findings[index] ?? [], barred: asked.barred?.get(node) }),
  );
  const { pod, source, boundTo } = asked;
  return {
    pod,
    policy: `${String(field(answer, "profile"))}@${String(field(answer, "version"))}`,
    source,
    ...(boundTo !== undefined && { boundTo }),
    nodes: nodes.sort((one, other) => (other.mean ?? -1) - (one.mean ?? -1)),
  };
}

type Rows = readonly ((number | undefined)[] | undefined)[];

interface Context {
  readonly shares: readonly Share[];
  readonly rows: Rows;
  readonly means: readonly number[];
  /** The index of the best node. */
  readonly best: number | undefined;
}

interface Place {
  readonly node: string;
  readonly index: number;
  readonly findings: readonly Json[];
  readonly barred: string | undefined;
}

function nodePart(context: Context, { node, index, findings, barred }: Place): NodePart {
  const mean = context.rows[index] === undefined ? null : (context.means[index] ?? 0);
  return {
    node,
    verdict: mean === null ? "refused" : "kept",
    best: index === context.best,
    reasons: [...(barred === undefined ? [] : [binderReason(barred)]), ...reasonsOf(findings)],
    plugins: findings.map((finding) => part(finding, context, index)),
    mean,
    score: mean === null ? 0 : extenderScore(mean),
  };
}

function binderReason(reason: string) {
  return { plugin: "Binder", reason, unresolvable: true };
}

function list(value: Json | undefined, key: string): readonly Json[] {
  const found = field(value, key);
  return Array.isArray(found) ? found : [];
}

function scoresOf(row: Json): (number | undefined)[] | undefined {
  const scores = field(row, "scores");
  return Array.isArray(scores) ? scores.map((score) => (typeof score === "number" ? score : undefined)) : undefined;
}

/** What one column says of every node. */
interface Share extends Column {
  readonly raw: readonly (number | undefined)[];
  readonly scaled: readonly number[];
  /** Weight over the sum of the weights that count. */
  readonly part: number;
}

function sharesOf(columns: readonly Column[], rows: Rows): Share[] {
  const raw = columns.map((_, column) => rows.map((row) => row?.[column]));
  const counts = raw.map((scores) => scores.some((score) => score !== undefined && Number.isFinite(score)));
  const total = columns.reduce((sum, { weight }, column) => sum + (counts[column] ? weight : 0), 0);
  return columns.map((column, index) => ({
    ...column,
    raw: raw[index] ?? [],
    scaled: scaleScores(column.scale, raw[index] ?? []),
    part: counts[index] && total > 0 ? column.weight / total : 0,
  }));
}

/** The index of the best node that was kept; the first of several. */
function bestOf(rows: Rows, means: readonly number[]): number | undefined {
  const kept = means.map((mean, index) => ({ mean, index })).filter(({ index }) => rows[index] !== undefined);
  return kept.sort((one, other) => other.mean - one.mean)[0]?.index;
}

const SILENT = { raw: null, scaled: null, weighted: null, behind: null, weight: null };

function part(finding: Json, context: Context, index: number): PluginPart {
  const plugin = String(field(finding, "plugin") ?? "");
  const facts = field(finding, "facts");
  const share = context.shares.find((each) => each.plugin === plugin);
  const numbers = share ? numbersOf(share, context, index) : SILENT;
  return { plugin, facts: isObject(facts) ? facts : {}, reasons: ownReasons(finding), ...numbers };
}

function numbersOf(share: Share, { rows, best }: Context, index: number) {
  const { weight } = share;
  if (rows[index] === undefined) return { ...SILENT, weight };
  const adds = (node: number) => (share.scaled[node] ?? 0) * share.part;
  const raw = share.raw[index] ?? null;
  return {
    raw,
    scaled: raw === null ? null : (share.scaled[index] ?? 0),
    weighted: adds(index),
    behind: best === undefined || index === best ? null : adds(best) - adds(index),
    weight,
  };
}

function reasonsOf(findings: readonly Json[]): NodePart["reasons"] {
  return findings.flatMap((finding) =>
    ownReasons(finding).map((reason) => ({
      plugin: String(field(finding, "plugin") ?? ""),
      reason,
      unresolvable: field(field(finding, "refusal"), "unresolvable") === true,
    })),
  );
}

function ownReasons(finding: Json): string[] {
  const refusal = field(finding, "refusal");
  const several = field(refusal, "reasons");
  if (Array.isArray(several) && several.length > 0) return several.map(String);
  const one = field(refusal, "reason");
  return typeof one === "string" ? [one] : [];
}
