import Table from "cli-table3";
import type { Screen } from "../screen.ts";
import type { Finding, Status } from "./finding.ts";

const COLORS = { ok: "green", note: "cyan", warning: "yellow", failed: "red", skipped: "dim" } as const;

/** Where nothing else limits lines, such as in a file, they are no longer than this. */
const WIDEST = 120;

/** What stands around the third column's text. */
const FRAME = 28;

/** Findings as a table: step, how it went, what is so and what to do. */
export function doctorTable(findings: readonly Finding[], { paint, width }: Pick<Screen, "paint" | "width">): string {
  const table = new Table({
    head: ["step", "", "what is so → what to do"].map((title) => paint("bold", title)),
    colWidths: [null, null, Math.max(40, Math.min(width, WIDEST) - FRAME)],
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  });
  for (const { step, status, what, mend } of findings) {
    table.push([step, paint(COLORS[status], status), mend === undefined ? what : `${what}\n→ ${mend}`]);
  }
  return table.toString();
}

/** One line: the step that fails, or how many warnings there are. */
export function doctorSummary(shown: string, findings: readonly Finding[]): string {
  const failed = findings.filter(({ status }) => status === "failed").map(({ step }) => step);
  if (failed.length > 0) return `${shown}: fails at ${[...new Set(failed)].join(", ")}`;
  const warnings = count(findings, "warning");
  return warnings === 0 ? `${shown}: well` : `${shown}: works, with ${warnings} warning${warnings === 1 ? "" : "s"}`;
}

/** Findings for programs; the exit code is in it too. */
export function doctorJson(shown: string, findings: readonly Finding[]): string {
  return JSON.stringify({ url: shown, exitCode: doctorExitCode(findings), findings }, null, 2);
}

/** 0: well. 3: warnings. 2: something fails. (1 is for a look that could not be taken.) */
export function doctorExitCode(findings: readonly Finding[]): 0 | 2 | 3 {
  if (count(findings, "failed") > 0) return 2;
  return count(findings, "warning") > 0 ? 3 : 0;
}

function count(findings: readonly Finding[], of: Status): number {
  return findings.filter(({ status }) => status === of).length;
}
