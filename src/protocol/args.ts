import type { JsonObject } from "./json.ts";

/** A node as the request has it. */
export interface RequestNode {
  readonly name: string;
  /** The node cut down to the wanted paths and `metadata.name`; in names form nothing but the name. */
  readonly object: JsonObject;
  /** In nodes form the request's own bytes of the node, where they were kept. */
  readonly raw?: Uint8Array;
}

/**
 * What kube-scheduler asks in filter and prioritize: `ExtenderArgs`, k8s.io/kube-scheduler
 * `extender/v1/types.go` v0.37.2.
 */
export interface ExtenderArgs {
  /** `nodes` when whole nodes came (`nodeCacheCapable: false`); the answer must have the same form. */
  readonly form: "nodes" | "names";
  /** The pod, whole. */
  readonly pod: JsonObject;
  /** In the request's order, each name once: the first of a name stays. */
  readonly nodes: readonly RequestNode[];
  /** Names that came again and were dropped, once for every repetition. */
  readonly duplicates: readonly string[];
}

/** Says of a node that has just been read whether its bytes will be needed. */
export type Keep = (node: RequestNode) => boolean;

/**
 * Asked once for every list of nodes, when it begins.
 *
 * @param pod the pod, or undefined when it has not come yet. In a body that names it again it may not be the last.
 */
export type Retain = (pod: JsonObject | undefined) => Keep;
