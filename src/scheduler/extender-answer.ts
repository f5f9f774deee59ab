import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import { outerField } from "../protocol/outer.ts";

/** What an extender's filter made of nodes. */
export interface ExtenderAnswer {
  /** Names of the nodes that it keeps, in its order. */
  readonly kept: readonly string[];
  /** Why it refused others; eviction could help. */
  readonly failed: ReadonlyMap<string, string>;
  /** Why it refused others for good. */
  readonly unresolvable: ReadonlyMap<string, string>;
}

/**
 * Reads `ExtenderFilterResult`, k8s.io/kube-scheduler extender/v1/types.go v0.37.2: keys in any casing. Node names
 * count only for an extender that was asked by name, and then before nodes; neither means that it keeps none.
 *
 * @throws an error that says what is wrong with the answer, or what the extender itself calls wrong
 */
export function readFilterAnswer(
  answer: JsonObject,
  { nodeCacheCapable }: { readonly nodeCacheCapable: boolean },
): ExtenderAnswer {
  readBindAnswer(answer);
  const names = outerField(answer, "NodeNames");
  return {
    kept: nodeCacheCapable && names !== undefined ? readNames(names) : readNodes(outerField(answer, "Nodes")),
    failed: readReasons(answer, "FailedNodes"),
    unresolvable: readReasons(answer, "FailedAndUnresolvableNodes"),
  };
}

/**
 * Reads `ExtenderBindingResult`, which says nothing when the pod is bound.
 *
 * @throws an error that says what the extender calls wrong
 */
export function readBindAnswer(answer: JsonObject): void {
  const error = outerField(answer, "Error") ?? "";
  if (typeof error !== "string") throw new Error("Error must be a text");
  if (error !== "") throw new Error(error);
}

/**
 * Reads `HostPriorityList`: keys in any casing, scores whole numbers, of which one wrong one spoils the list.
 *
 * @throws an error that says what is wrong with the list
 */
export function readScores(answer: Json): ReadonlyMap<string, number> {
  if (!Array.isArray(answer)) throw new Error("the answer must be a list of scores");
  const scores = new Map<string, number>();
  for (const entry of answer as readonly Json[]) {
    const host = outerField(entry, "Host") ?? "";
    const score = outerField(entry, "Score") ?? 0;
    if (typeof host !== "string" || !Number.isInteger(score))
      throw new Error("a score must be a whole number of a host");
    scores.set(host, (scores.get(host) ?? 0) + Number(score));
  }
  return scores;
}

function readNames(names: Json): readonly string[] {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) {
    throw new Error("NodeNames must be a list of texts");
  }
  return names as readonly string[];
}

function readNodes(nodes: Json | undefined): readonly string[] {
  if (nodes === undefined) return [];
  const items = outerField(nodes, "items") ?? [];
  if (!isObject(nodes) || !Array.isArray(items)) throw new Error("Nodes must be a list of nodes");
  return (items as readonly Json[]).map((node) => String(field(field(node, "metadata"), "name") ?? ""));
}

function readReasons(answer: JsonObject, key: string): ReadonlyMap<string, string> {
  const reasons = outerField(answer, key) ?? {};
  if (!isObject(reasons)) throw new Error(`${key} must be a map`);
  return new Map(
    Object.entries(reasons).map(([node, reason]) => {
      if (typeof reason !== "string") throw new Error(`${key} must be a map of texts`);
      return [node, reason];
    }),
  );
}
