import { askProgram } from "./ask.ts";
import { apiServerVersion } from "./programs.ts";

/** An extender's answer as it went over the wire. */
export interface RawAnswer {
  readonly verb: "filter" | "prioritize";
  readonly body: string;
  /** The request's body: the nodes that came back are compared with the ones in it. */
  readonly request?: string;
}

/** What kube-scheduler's types made of an answer to filter; null is what the answer does not have. */
export interface GoFilterAnswer {
  readonly nodes: readonly string[] | null;
  /** Nodes that came back other than they went out, or were never sent. Empty without a request. */
  readonly changedNodes: readonly string[] | null;
  readonly nodeNames: readonly string[] | null;
  readonly failedNodes: Readonly<Record<string, string>> | null;
  readonly failedAndUnresolvableNodes: Readonly<Record<string, string>> | null;
  readonly error: string;
}

/** What Go understood: one of the three. */
export interface GoAnswer {
  readonly decodeError?: string;
  readonly filter?: GoFilterAnswer;
  readonly scores?: readonly { readonly host: string; readonly score: number }[];
}

/**
 * Decodes answers with the official types of `k8s.io/kube-scheduler/extender/v1` v0.37.2 the way kube-scheduler does.
 * Builds the Go program first if it must; throws when Go is missing.
 */
export function goReads(answers: readonly RawAnswer[]): Promise<GoAnswer[]> {
  return askProgram({ name: "answers", version: apiServerVersion }, answers);
}
