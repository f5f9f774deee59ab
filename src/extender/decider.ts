import type { Column } from "../policy/rank.ts";
import type { Row } from "../policy/run.ts";
import type { ExtenderArgs, RequestNode } from "../protocol/args.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { PathTree } from "../protocol/paths.ts";

/** The verbs of kube-scheduler that a decider answers. */
export type DecisionVerb = "filter" | "prioritize";

/** Every verb that is about one pod. */
export type PodVerb = DecisionVerb | "preempt" | "bind";

/** What a policy says of a pod and the nodes it was asked about: a row for each node, in the request's order. */
export interface Decision {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** Why nothing could be decided, in a sentence for the pod's event. The same fault gives the same sentence. */
export interface Undecided {
  readonly error: string;
}

/** A filter that began with the pod alone. */
export interface Filtering {
  /** Judges a node that has just been read; false when it does not fit. */
  readonly keep: (node: RequestNode) => boolean;
  /** The decision for these nodes, from what was judged before and what was not yet. */
  decide(nodes: readonly RequestNode[]): Decision | Undecided;
}

/**
 * One profile as the extender asks it. The function answers from the request alone, the in-cluster binder from what
 * it watches: the app on top is the same.
 */
export interface Decider {
  /** `<profile>@<version>`, as every answer and log line carries it. */
  readonly policy: string;
  /** What has to be read of each node of a request. */
  readonly wanted: PathTree;
  decide(verb: DecisionVerb, args: ExtenderArgs): Promise<Decision | Undecided>;
  /** Begins to filter for a pod whose nodes, in nodes form, still arrive. Absent where all has to be there first. */
  filtering?(pod: JsonObject): Filtering;
  /** Answers a question in facts; see docs/protocol.md. Throws ShapeError for a question that makes no sense. */
  evaluate(question: JsonObject): Promise<unknown>;
  /** The profile as data, for a host that decides by it itself and for people. */
  describe(): unknown;
  /**
   * The one that answers for this pod, where policies change: another version than this one may have begun its cycle.
   *
   * @param pod its UID
   */
  for?(verb: PodVerb, pod: string): Decider;
}

/** Finds the decider of a profile by the profile's name. */
export type Deciders = (profile: string) => Decider | undefined;
