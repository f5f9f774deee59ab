import { field, isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import type { Sample } from "../sample.ts";

/** What kube-scheduler would send in a filter or prioritize call. */
export interface Question {
  readonly text: string;
  readonly bytes: number;
  readonly nodes: number;
  /** Where the nodes are from, for people. */
  readonly source: string;
}

/**
 * How many of a cluster's nodes kube-scheduler looks at for a pod without percentageOfNodesToScore, and so sends
 * (k8s.io/kubernetes v1.37.2 pkg/scheduler/schedule_one.go, numFeasibleNodesToFind): all below 100, then 50 % less 1 %
 * for each 125 nodes, at least 5 % and at least 100.
 */
export function nodesSent(all: number): number {
  if (all < 100) return all;
  const percent = Math.max(5, 50 - Math.floor(all / 125));
  return Math.max(100, Math.floor((all * percent) / 100));
}

/** A question about a pod of our own and so many of these nodes. Nodes that are too few are repeated under new names. */
export function question(
  sample: Sample,
  nodes: readonly JsonObject[],
  of: { readonly count: number; readonly names: boolean; readonly source: string },
): Question {
  const items = Array.from({ length: of.count }, (_, index) => nodeAt(nodes, index));
  const pod = { ...sample.pod, metadata: { ...object(field(sample.pod, "metadata")), name: "berth-doctor" } };
  const list: Json = of.names
    ? { Nodes: null, NodeNames: items.map((node) => field(field(node, "metadata"), "name") ?? "") }
    : { Nodes: { metadata: {}, items }, NodeNames: null };
  const text = JSON.stringify({ Pod: pod, ...object(list) });
  return { text, bytes: Buffer.byteLength(text), nodes: of.count, source: of.source };
}

function nodeAt(nodes: readonly JsonObject[], index: number): JsonObject {
  const node = nodes[index % nodes.length] ?? {};
  if (index < nodes.length) return node;
  const metadata = object(field(node, "metadata"));
  return { ...node, metadata: { ...metadata, name: `${metadata["name"]}-${Math.floor(index / nodes.length)}` } };
}

function object(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
