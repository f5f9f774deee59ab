import { readFile } from "node:fs/promises";
import { factToJson } from "../policy/fact-json.ts";
import { objectLookup } from "../policy/lookup.ts";
import { type Policy, viewsOf } from "../policy/policy.ts";
import { Unreadable } from "../policy/view.ts";
import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import { EVALUATE_PROTOCOL } from "../protocol/release.ts";

/** A request of kube-scheduler, as it was sent. */
export interface Sample {
  readonly body: Buffer;
  readonly pod: JsonObject;
  readonly nodes: readonly JsonObject[];
}

/** What kube-scheduler 1.37.2 sent to an extender about one pod and four nodes, byte for byte. */
export async function readSample(): Promise<Sample> {
  const body = await readFile(new URL("sample-request.json", import.meta.url));
  const args: unknown = JSON.parse(body.toString("utf8"));
  const pod = field(args, "Pod");
  const items = field(field(args, "Nodes"), "items");
  if (!isObject(pod) || !Array.isArray(items)) throw new Error("sample-request.json is not a request with whole nodes");
  return { body, pod, nodes: items.filter(isObject) };
}

/** `<namespace>/<name>` of a sample's pod. */
export function podName({ pod }: Sample): string {
  const metadata = field(pod, "metadata");
  return `${field(metadata, "namespace")}/${field(metadata, "name")}`;
}

/** The names of a sample's nodes, in the order of the request. */
export function nodeNames({ nodes }: Sample): string[] {
  return nodes.map((node) => String(field(field(node, "metadata"), "name")));
}

/**
 * The question that `POST /<profile>/evaluate` takes, asking for explanations: the facts that the policy's plugins
 * read, instead of the objects they stand in.
 *
 * @param now milliseconds since 1970
 */
export function evaluateQuestion(policy: Policy, sample: Sample, now: number): JsonObject {
  return {
    protocol: EVALUATE_PROTOCOL,
    explain: true,
    pod: factsOf(policy, "pod", sample.pod, now),
    nodes: sample.nodes.map((node) => factsOf(policy, "node", node, now)),
  };
}

function factsOf(policy: Policy, of: "pod" | "node", object: JsonObject, now: number): JsonObject {
  const look = objectLookup(object, now);
  const facts: Record<string, Json> = {};
  for (const view of viewsOf(policy)) {
    if (view.of !== of) continue;
    const fact = look(view);
    facts[view.name] =
      fact instanceof Unreadable ? { unreadable: { field: fact.field, problem: fact.problem } } : factToJson(fact);
  }
  return facts;
}
