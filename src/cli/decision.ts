import type { Policy } from "../policy/policy.ts";
import { columnsOf } from "../policy/policy.ts";
import { type Column, scaleScores } from "../policy/rank.ts";
import { field, isObject, type Json } from "../protocol/json.ts";
import { DevError } from "./dev-error.ts";
import { policyName } from "./dev-policy.ts";
import { errorOf, type FunctionAnswer, type FunctionClient } from "./function-client.ts";
import { evaluateQuestion, nodeNames, podName, type Sample } from "./sample.ts";

/** What one scoring plugin made of one node. */
export interface PluginScore {
  readonly plugin: string;
  readonly weight: number;
  /** In the plugin's own unit; null where the facts do not tell or the node was refused. */
  readonly raw: number | null;
  /** 0…100, over the nodes of this request; null for a refused node. */
  readonly scaled: number | null;
}

/** What the function said of one node. */
export interface NodeDecision {
  readonly node: string;
  readonly verdict: "kept" | "refused";
  /** Which plugin refused it, and its reason as kube-scheduler gets it. */
  readonly refusal?: { readonly plugin: string; readonly reason: string };
  readonly plugins: readonly PluginScore[];
  /** 0…10, as kube-scheduler gets it. */
  readonly score: number;
}

/** What the function said of a request. */
export interface DecisionReport {
  /** `<profile>@<version>` */
  readonly policy: string;
  readonly pod: string;
  /** In the order of the request. */
  readonly nodes: readonly NodeDecision[];
  /** From sending a request to having its answer. */
  readonly milliseconds: { readonly filter: number; readonly prioritize: number };
}

/**
 * Asks the function to filter and to prioritize, as kube-scheduler does, and to explain.
 *
 * @returns undefined when the function answers by another policy meanwhile
 * @throws {DevError} when an answer says that it cannot
 */
export async function askDecision(
  client: FunctionClient,
  policy: Policy,
  sample: Sample,
): Promise<DecisionReport | undefined> {
  const path = `/${policy.profile}`;
  const filter = await timed(() => client.ask(`${path}/filter`, sample.body));
  const prioritize = await timed(() => client.ask(`${path}/prioritize`, sample.body));
  const question = JSON.stringify(evaluateQuestion(policy, sample, Date.now()));
  const evaluate = await client.ask(`${path}/evaluate`, question);
  const answers = { filter: filter.answer, prioritize: prioritize.answer, evaluate };
  if (Object.values(answers).some((answer) => answer.policy !== policyName(policy))) return undefined;
  for (const [verb, answer] of Object.entries(answers)) requireAnswer(verb, answer);
  return {
    policy: policyName(policy),
    pod: podName(sample),
    nodes: readNodes(sample, columnsOf(policy), answers),
    milliseconds: { filter: filter.milliseconds, prioritize: prioritize.milliseconds },
  };
}

async function timed(ask: () => Promise<FunctionAnswer>) {
  const started = performance.now();
  const answer = await ask();
  return { answer, milliseconds: Math.round(performance.now() - started) };
}

function requireAnswer(verb: string, answer: FunctionAnswer): void {
  const error = errorOf(answer);
  if (answer.status === 200 && error === undefined) return;
  throw new DevError(`the function cannot ${verb} by ${answer.policy}: ${error ?? `it answered ${answer.status}`}`);
}

interface Answers {
  readonly filter: FunctionAnswer;
  readonly prioritize: FunctionAnswer;
  readonly evaluate: FunctionAnswer;
}

function readNodes(sample: Sample, columns: readonly Column[], answers: Answers): NodeDecision[] {
  const kept = new Set(listOf(field(answers.filter.json, "Nodes"), "items").map(nameOf));
  const wire = new Map(listOf(answers.prioritize.json).map((host) => [field(host, "Host"), field(host, "Score")]));
  const rows = listOf(answers.evaluate.json, "rows");
  const raw = columns.map((_, column) => rows.map((row) => numberOf(listOf(row, "scores")[column])));
  const scaled = columns.map(({ scale }, column) => scaleScores(scale, undefinedForNull(raw[column])));
  return nodeNames(sample).map((node, index) => {
    const refusal = field(rows[index], "refusal");
    return {
      node,
      verdict: kept.has(node) ? "kept" : "refused",
      ...(refusal !== undefined && {
        refusal: { plugin: String(field(refusal, "plugin")), reason: reasonOf(answers.filter.json, node) },
      }),
      plugins: columns.map(({ plugin, weight }, column) => ({
        plugin,
        weight,
        raw: raw[column]?.[index] ?? null,
        scaled: refusal === undefined ? (scaled[column]?.[index] ?? null) : null,
      })),
      score: numberOf(wire.get(node)) ?? 0,
    };
  });
}

/** The reason that kube-scheduler reads: the unresolvable ones win there. */
function reasonOf(filterResult: Json, node: string): string {
  const reason =
    field(field(filterResult, "FailedAndUnresolvableNodes"), node) ?? field(field(filterResult, "FailedNodes"), node);
  return typeof reason === "string" ? reason : "";
}

function listOf(value: Json | undefined, key?: string): readonly Json[] {
  const list = key === undefined ? value : field(value, key);
  return Array.isArray(list) ? list : [];
}

function nameOf(node: Json): Json | undefined {
  return isObject(node) ? field(node["metadata"], "name") : undefined;
}

function numberOf(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function undefinedForNull(scores: readonly (number | null)[] | undefined): (number | undefined)[] {
  return (scores ?? []).map((score) => score ?? undefined);
}
