import { rank } from "../policy/rank.ts";
import type { Refusal, Row } from "../policy/run.ts";
import { filterAnswer, filterError, prioritizeAnswer } from "../protocol/answer.ts";
import type { ExtenderArgs } from "../protocol/args.ts";
import { field, type Json } from "../protocol/json.ts";
import { ShapeError } from "../protocol/scan.ts";
import { type AnswerBody, bodyOf } from "./answer-body.ts";
import type { Decision, DecisionVerb, Undecided } from "./decider.ts";

/** An answer's bytes and what the log says of the decision behind it. */
export interface Answer extends AnswerBody {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Set when nothing could be decided. */
  readonly error?: string;
}

/** At most this many nodes are named in one log line. */
const NAMED_NODES = 5;

/** No name in Kubernetes has more characters: DNS-1123 subdomain. */
const LONGEST_NAME = 253;

/** The path of a field and what is wrong with it; both may hold text of the request. */
const LONGEST_FAULT = 512;

/** A question that was decided. */
export interface Asked {
  /** `<profile>@<version>` that decided it. */
  readonly policy: string;
  readonly verb: DecisionVerb;
  readonly args: ExtenderArgs;
}

/**
 * Writes what was decided in the form that was asked for.
 *
 * @throws {ShapeError} when a node fits whose bytes are gone, which takes a body that names its pod twice
 */
export function answerOutcome(outcome: Decision | Undecided, { policy, verb, args }: Asked): Answer {
  const fields = describeQuestion(policy, verb, args);
  if ("error" in outcome) {
    const body = verb === "filter" ? filterError(outcome.error) : prioritizeAnswer(scored(args, []));
    return { body, fields: { ...fields, error: outcome.error }, error: outcome.error };
  }
  const refused = { ...fields, ...describeRefusals(args, outcome.rows) };
  if (verb === "filter") return { ...bodyOf(filterBody(args, outcome.rows)), fields: refused };
  const scores = rankRows(outcome);
  return {
    body: prioritizeAnswer(scored(args, scores)),
    fields: { ...refused, best: best(args, outcome.rows, scores) },
  };
}

function rankRows({ columns, rows }: Decision): number[] {
  return rank(
    columns,
    rows.map((row) => ("scores" in row ? row.scores : undefined)),
  );
}

function scored(args: ExtenderArgs, scores: readonly number[]) {
  return args.nodes.map(({ name }, index) => ({ name, score: scores[index] ?? 0 }));
}

function filterBody(args: ExtenderArgs, rows: readonly Row[]): readonly Uint8Array[] {
  const failed = new Map<string, string>();
  const unresolvable = new Map<string, string>();
  const kept = args.nodes.filter(({ name }, index) => {
    const refusal = refusalOf(rows[index]);
    if (refusal) (refusal.unresolvable ? unresolvable : failed).set(name, refusal.reason);
    return refusal === undefined;
  });
  if (args.form === "nodes" && kept.some(({ raw }) => raw === undefined)) {
    throw new ShapeError("Pod comes again behind Nodes, and is another pod: name it once");
  }
  return filterAnswer({ form: args.form, kept, failed, unresolvable });
}

function refusalOf(row: Row | undefined): Refusal | undefined {
  return row && "refusal" in row ? row.refusal : undefined;
}

function describeQuestion(policy: string, verb: DecisionVerb, args: ExtenderArgs) {
  const metadata = field(args.pod, "metadata");
  return {
    policy,
    verb,
    pod: `${textOf(metadata, "namespace") ?? "default"}/${textOf(metadata, "name") ?? ""}`,
    uid: textOf(metadata, "uid") ?? null,
    nodes: args.nodes.length,
    ...(args.duplicates.length > 0 && { duplicateNodes: args.duplicates.slice(0, NAMED_NODES).map(shortName) }),
  };
}

/** What may be in a field that the API server would have checked is not for a log line, unless it is text. */
function textOf(metadata: Json | undefined, key: string): string | undefined {
  const value = field(metadata, key);
  return typeof value === "string" ? shortName(value) : undefined;
}

function shortName(name: string): string {
  return name.slice(0, LONGEST_NAME);
}

/** Refusals by plugin, and the nodes whose objects could not be read: those need somebody's attention. */
function describeRefusals(args: ExtenderArgs, rows: readonly Row[]) {
  const refused: Record<string, number> = {};
  const unreadable: string[] = [];
  for (let index = 0; index < rows.length; index++) {
    const refusal = refusalOf(rows[index]);
    if (!refusal) continue;
    refused[refusal.plugin] = (refused[refusal.plugin] ?? 0) + 1;
    if (refusal.unreadable && unreadable.length < NAMED_NODES) {
      unreadable.push(
        `${shortName(args.nodes[index]?.name ?? "")}: ${String(refusal.unreadable).slice(0, LONGEST_FAULT)}`,
      );
    }
  }
  return { refused, ...(unreadable.length > 0 && { unreadable }) };
}

/** The node with the highest score; the first of several, none when all were refused. */
function best(args: ExtenderArgs, rows: readonly Row[], scores: readonly number[]): string | null {
  let at = -1;
  for (let index = 0; index < scores.length; index++) {
    if (refusalOf(rows[index])) continue;
    if (at < 0 || (scores[index] ?? 0) > (scores[at] ?? 0)) at = index;
  }
  return at < 0 ? null : shortName(args.nodes[at]?.name ?? "");
}
