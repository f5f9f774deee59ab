import { execFile } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { apiServerVersion, programPath, requirePrograms } from "./programs.ts";

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
export async function goReads(answers: readonly RawAnswer[]): Promise<GoAnswer[]> {
  const program = { name: "answers", version: apiServerVersion } as const;
  await requirePrograms([program]);
  const child = execFile(programPath(program));
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("the Go program has no pipes");
  // A program that fails early closes the pipe; what it says on standard error tells more than the broken pipe.
  stdin.on("error", () => {});
  stdin.end(answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
  const [output, complaint] = await Promise.all([text(stdout), text(stderr), once(child, "close")]);
  if (child.exitCode !== 0) throw new Error(`the Go program failed: ${complaint.trim()}`);
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as GoAnswer);
}
