import type { Column } from "../policy/rank.ts";
import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import type { FarRow } from "./rows.ts";

/** The version of `evaluate` that this release speaks. */
const PROTOCOL = 1;

/** A reason becomes part of pods' events. */
const LONGEST_REASON = 512;

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

/** An answer that can be used, one of another version of the policy, or what is wrong with it in a few words. */
export type Reading =
  | { readonly rows: readonly FarRow[] }
  | { readonly version: string }
  | { readonly problem: string };

/** Reads an answer of `evaluate`. Nothing of it is used unless all of it is as it must be. */
export function readAnswer(body: Uint8Array, asked: Asked, nodes: number): Reading {
  const answer = parse(body);
  if (!isObject(answer)) return { problem: "it is not JSON" };
  if (answer["protocol"] !== PROTOCOL) return { problem: `its protocol is not ${PROTOCOL}` };
  const { profile, version } = answer;
  if (profile !== asked.profile || typeof version !== "string") return { problem: "it is about another profile" };
  if (version !== asked.version) return { version };
  if (!sameColumns(answer["columns"], asked.columns)) return { problem: "it has other columns than the policy" };
  const list = answer["rows"];
  if (!Array.isArray(list) || list.length !== nodes) return { problem: "it has another number of rows than nodes" };
  const rows: FarRow[] = [];
  for (const each of list as readonly Json[]) {
    const row = readRow(each, asked);
    if (row === undefined) return { problem: "one of its rows is none" };
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
