import { cpus, loadavg } from "node:os";
import Table from "cli-table3";
import type { Case, Figures } from "./measure.ts";

/** A measured case. */
export interface Measured {
  readonly one: Case;
  readonly figures: readonly Figures[];
}

/** The machine and how busy it was: without it no figure means anything. */
export function machine(): string {
  const load = loadavg().map((each) => each.toFixed(1));
  return `${cpus().length} cores (${cpus()[0]?.model.trim()}), load ${load.join(" ")}, Node ${process.versions.node}`;
}

const HEAD = ["verb", "nodes", "extender", "CPU ms/request", "min…max", "rival ÷ Berth", "peak MiB"];

/** The rows of every case; the first rival of a case is Berth, the others are set in proportion to it. */
export function rows(measured: readonly Measured[]): string[][] {
  return measured.flatMap(({ one, figures }) =>
    figures.map((each, index) => [
      one.verb,
      `${one.nodes} × ${(one.bytesPerNode / 1000).toFixed(1)} KB`,
      each.rival,
      each.cpuMs.toFixed(1),
      `${Math.min(...each.runs).toFixed(1)}…${Math.max(...each.runs).toFixed(1)}`,
      index === 0 ? "" : `× ${(each.cpuMs / (figures[0]?.cpuMs ?? Number.NaN)).toFixed(1)}`,
      (each.peakBytes / 2 ** 20).toFixed(0),
    ]),
  );
}

/** For a terminal. */
export function asTable(measured: readonly Measured[]): string {
  return textTable(HEAD, rows(measured));
}

/** For a page of documentation. */
export function asMarkdown(measured: readonly Measured[]): string {
  return markdownTable(HEAD, rows(measured));
}

/** Any rows for a terminal. */
export function textTable(head: readonly string[], cells: readonly string[][]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...cells);
  return table.toString();
}

/** Any rows for a page of documentation. */
export function markdownTable(head: readonly string[], cells: readonly string[][]): string {
  const line = (row: readonly string[]) => `| ${row.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...cells.map(line)].join("\n");
}
