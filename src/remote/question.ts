import type { Column } from "../policy/rank.ts";
import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import type { FunctionAnswer } from "./client.ts";
import type { FarRow, Refused } from "./rows.ts";

/** The version of `evaluate` that this release speaks. */
const PROTOCOL = 1;

/** A reason or an error becomes part of pods' events. */
const LONGEST_REASON = 512;

/** What a function says of a question that it cannot answer, and not of itself; see docs/protocol.md. */
const ABOUT_THE_QUESTION: ReadonlySet<number> = new Set([400, 413, 500]);

/** What is asked of the plugins of one policy version. */
export interface Asked {
  readonly profile: string;
  readonly version: string;
  /** The plugins, in the profile's order. */
  readonly plugins: readonly string[];
  /** Those of them that score. */
  readonly columns: readonly Column[];
}

/** The body of a question to `evaluate`: see docs/protocol.md. */
export function questionBody({ plugins }: Asked, pod: JsonObject, nodes: readonly JsonObject[]): string {
  return JSON.stringify({ protocol: PROTOCOL, plugins, pod, nodes });
}

/**
 * An answer that can be used, one of another version of the policy, one that says that there are no rows, or what is
 * wrong with it in a few words; `alive`: it is the function that answered, by the version that was asked about.
 */
export type Reading =
  | { readonly rows: readonly FarRow[] }
  | { readonly version: string }
  | Refused
  | { readonly problem: string; readonly alive?: true };

/** Why there are no rows, in a few words. */
export function problemOf(reading: Refused | { readonly problem: string }): string {
  return "refused" in reading ? reading.refused : reading.problem;
}

/** Reads an answer of `evaluate` to a question about so many nodes. */
export function readAnswer(
  answer: Pick<FunctionAnswer, "status" | "headers" | "body">,
  asked: Asked,
  nodes: number,
): Reading {
  return answer.status === 200 ? readRows(answer.body, asked, nodes) : readRefused(answer, asked);
}

/** Only the function itself names its policy: what stands before it, or has taken its place, does not. */
function readRefused({ status, headers, body }: Parameters<typeof readAnswer>[0], asked: Asked): Reading {
  const problem = `it answered ${status} instead of 200`;
  const [, profile, version] = /^([^@]*)@(.*)$/.exec(headers["berth-policy"] ?? "") ?? [];
  if (!ABOUT_THE_QUESTION.has(status) || profile !== asked.profile || version === undefined) return { problem };
  if (version !== asked.version) return { version };
  const error = field(parse(body), "error");
  return { refused: typeof error === "string" ? error.slice(0, LONGEST_REASON) : problem };
}

/** Nothing of an answer is used unless all of it is as it must be. */
function readRows(body: Uint8Array, asked: Asked, nodes: number): Reading {
  const answer = parse(body);
  if (!isObject(answer)) return { problem: "it is not JSON" };
  if (answer["protocol"] !== PROTOCOL) return { problem: `its protocol is not ${PROTOCOL}` };
  const { profile, version } = answer;
  if (profile !== asked.profile || typeof version !== "string") return { problem: "it is about another profile" };
  if (version !== asked.version) return { version };
  if (!sameColumns(answer["columns"], asked.columns))
    return { problem: "it has other columns than the policy", alive: true };
  const list = answer["rows"];
  if (!Array.isArray(list) || list.length !== nodes) {
    return { problem: "it has another number of rows than nodes", alive: true };
  }
  const rows: FarRow[] = [];
  for (const each of list as readonly Json[]) {
    const row = readRow(each, asked);
    // What a plugin says of one pod and one node, it says of no other.
    if (row === undefined) return { refused: "one of its rows is none" };
    rows.push(row);
  }
  return { rows };
}

function parse(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function sameColumns(told: Json | undefined, columns: readonly Column[]): boolean {
  if (!Array.isArray(told) || told.length !== columns.length) return false;
  return columns.every(({ plugin, weight, scale }, index) => {
    const column = (told as readonly Json[])[index];
    return field(column, "plugin") === plugin && field(column, "weight") === weight && field(column, "scale") === scale;
  });
}

function readRow(row: Json, { plugins, columns }: Asked): FarRow | undefined {
  const refusal = field(row, "refusal");
  if (isObject(refusal)) return readRefusal(refusal, plugins);
  const scores = field(row, "scores");
  if (!Array.isArray(scores) || scores.length !== columns.length) return undefined;
  const known = (scores as readonly Json[]).every((score) => score === null || typeof score === "number");
  return known ? { scores: (scores as readonly (number | null)[]).map((score) => score ?? undefined) } : undefined;
}

function readRefusal({ plugin, reason, unresolvable }: JsonObject, plugins: readonly string[]): FarRow | undefined {
  if (typeof plugin !== "string" || !plugins.includes(plugin)) return undefined;
  if (typeof reason !== "string" || reason.length > LONGEST_REASON || typeof unresolvable !== "boolean") {
    return undefined;
  }
  return { refusal: { plugin, reason, unresolvable } };
}
