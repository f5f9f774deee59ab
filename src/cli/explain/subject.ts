import { factToJson } from "../../policy/fact-json.ts";
import { objectLookup } from "../../policy/lookup.ts";
import { type Lookup, Unreadable, type View } from "../../policy/view.ts";
import { field, isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import { EVALUATE_PROTOCOL } from "../../protocol/release.ts";
import { CommandError } from "../command-error.ts";
import type { Asked } from "./explanation.ts";

/** A pod and the nodes it is judged against. */
export interface Subject extends Asked {
  readonly podFacts: Lookup;
  /** In the order of `nodes`. */
  readonly nodeFacts: readonly Lookup[];
}

/**
 * The subject of a request that kube-scheduler has sent, an ExtenderArgs body with whole nodes.
 *
 * @param now milliseconds since 1970
 * @throws {CommandError} for a body without a pod or with node names only
 */
export function subjectOfRequest(text: string, file: string, now: number): Subject {
  const args = parse(text, file);
  const pod = anyCase(args, "Pod");
  const items = field(anyCase(args, "Nodes"), "items");
  if (!isObject(pod)) throw new CommandError(`${file} has no Pod: give the body of a filter or prioritize call`);
  if (!Array.isArray(items)) {
    throw new CommandError(
      `${file} has node names only, so nothing is known of the nodes: take one of an extender with nodeCacheCapable: false, or \`berth explain pod\``,
    );
  }
  const nodes = items.filter(isObject);
  return {
    pod: nameOf(pod),
    source: `from ${file}`,
    nodes: nodes.map((node) => String(field(field(node, "metadata"), "name") ?? "")),
    podFacts: objectLookup(pod, now),
    nodeFacts: nodes.map((node) => objectLookup(node, now)),
  };
}

/** `<namespace>/<name>` */
export function nameOf(pod: JsonObject): string {
  const metadata = field(pod, "metadata");
  return `${field(metadata, "namespace") ?? "default"}/${field(metadata, "name") ?? ""}`;
}

/** The question for `evaluate`: what these views say of the subject, with explanations. */
export function questionAbout(subject: Subject, views: readonly View<unknown>[]): JsonObject {
  const facts = (of: "pod" | "node", look: Lookup) =>
    Object.fromEntries(views.filter((view) => view.of === of).map((view) => [view.name, factOf(look(view))]));
  return {
    protocol: EVALUATE_PROTOCOL,
    explain: true,
    pod: facts("pod", subject.podFacts),
    nodes: subject.nodeFacts.map((look) => facts("node", look)),
  };
}

function factOf(fact: unknown): Json {
  return fact instanceof Unreadable ? { unreadable: { field: fact.field, problem: fact.problem } } : factToJson(fact);
}

function parse(text: string, file: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Told below; the parser's words would quote the file.
  }
  throw new CommandError(`${file} is no JSON object: give the body of a filter or prioritize call`);
}

/** Go reads any casing of the outer keys, and older tools write lower camel case. */
function anyCase(args: JsonObject, key: string): Json | undefined {
  const found = Object.keys(args).find((each) => each.toLowerCase() === key.toLowerCase());
  return found === undefined ? undefined : args[found];
}
