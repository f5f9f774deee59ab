import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { type Program, programPath, requirePrograms } from "./programs.ts";

/**
 * Puts questions to a Go program that reads one JSON object a line and answers each with one. Builds it first if it
 * must; throws when Go is missing, and what the program says when it fails.
 */
export async function askProgram<Question, Answer>(
  program: Program,
  questions: readonly Question[],
): Promise<Answer[]> {
  await requirePrograms([program]);
  const child = spawn(programPath(program), { stdio: "pipe" });
  const { stdin, stdout, stderr } = child;
  // A program that fails early closes the pipe; what it says on standard error tells more than the broken pipe.
  stdin.on("error", () => {});
  stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
  const [output, complaint] = await Promise.all([text(stdout), text(stderr), once(child, "close")]);
  if (child.exitCode !== 0) throw new Error(`the Go program failed: ${complaint.trim()}`);
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Answer);
}
