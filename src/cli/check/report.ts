import Table from "cli-table3";
import type { Screen } from "../screen.ts";
import { type Report, worst } from "./check.ts";
import type { Finding, Severity } from "./finding.ts";

const COLORS = { error: "red", warning: "yellow", note: "cyan" } as const;

/** Where nothing else limits lines, such as in a file, they are no longer than this. */
const WIDEST = 120;

/** What stands around the third column's text. */
const FRAME = 26;

/** A report as a table: line, severity, and what is wrong with what to do. */
export function reportTable({ findings }: Report, { paint, width }: Pick<Screen, "paint" | "width">): string {
  const table = new Table({
    head: ["line", "severity", "what is wrong → what to do"].map((title) => paint("bold", title)),
    colAligns: ["right", "left", "left"],
    colWidths: [null, null, Math.max(40, Math.min(width, WIDEST) - FRAME)],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { line, severity, path, rule, reason, mend } of findings) {
    const where = path === "" ? paint("dim", rule) : `${paint("bold", path)} ${paint("dim", rule)}`;
    table.push([String(line), paint(COLORS[severity], severity), `${where}\n${reason}\n→ ${mend}`]);
  }
  return table.toString();
}

/** One line on how many of each there are. */
export function reportSummary(file: string, { findings, worstCase }: Report): string {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  const counted = (["error", "warning", "note"] as const).map((severity) => plural(count(severity), severity));
  const rate = worstCase ? `; if every extender hangs: ${Number(worstCase.podsPerSecond.toPrecision(2))} pods/s` : "";
  return `${file}: ${counted.join(", ")}${rate}`;
}

function plural(count: number, severity: Severity): string {
  return `${count} ${severity}${count === 1 ? "" : "s"}`;
}

/** A report for programs; the exit code is in it too. */
export function reportJson(file: string, report: Report): string {
  const findings = report.findings.map((finding: Finding) => ({ ...finding }));
  const body = { file, exitCode: exitCode(report), findings, worstCase: report.worstCase ?? null };
  return JSON.stringify(body, null, 2);
}

/** 0: nothing, or notes. 3: warnings. 2: errors. (1 is for a check that could not be done.) */
export function exitCode({ findings }: Report): 0 | 2 | 3 {
  const severity = worst(findings);
  return severity === "error" ? 2 : severity === "warning" ? 3 : 0;
}
