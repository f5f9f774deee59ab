import { writeFigures } from "./page.ts";
import type { RelayProfile } from "./relay-arms.ts";
import type { Pods } from "./relay-cluster.ts";
import { machine, markdownTable, textTable } from "./report.ts";

/** What decides, which pods arrive, and the least part of the rate that has to be left while the function fails. */
export interface Case {
  readonly what: string;
  readonly profile: RelayProfile;
  readonly pods: Pods;
  readonly least: number;
}

/** The second with pods that all differ: each has to be asked about, so that each meets the fault. */
export const CASES: readonly Case[] = [
  { what: "all plugins here", profile: "default", pods: "5 templates", least: 0.9 },
  { what: "one plugin in the function only, skip", profile: "far", pods: "all different", least: 0.5 },
];

/** Before a fault, while it lasted, or after it. */
export interface Phase {
  /** Pods per second. */
  readonly rate: number;
  /** CPU of the binder per pod, in milliseconds. */
  readonly cpuMs: number;
}

/** One fault of one case. */
export interface Measured {
  readonly one: Case;
  readonly told: string;
  readonly before: Phase;
  readonly during: Phase;
  /** From the moment when the function was used again. */
  readonly after: Phase;
  /** Seconds until the function was used again after its return. */
  readonly back: number;
  /** Of the whole case: decisions, those by a version that nobody served, and pods for which versions were mixed. */
  readonly decisions: number;
  readonly unknown: number;
  readonly mixed: number;
}

/** Seconds within which the function has to be used again. */
const BACK_WITHIN = 5;

const HEAD = [
  "decided by",
  "pods",
  "the function",
  "pods/s before",
  "meanwhile",
  "after",
  "ratio",
  "promised",
  "binder's CPU, ms per pod",
  "used again after, s",
  "promised",
];

/** Prints the table, writes it where that was asked for, and says whether the promises hold. */
export function report(
  measured: readonly Measured[],
  { nodes, seconds, write }: { readonly nodes: number; readonly seconds: number; readonly write: boolean },
): Promise<boolean> | boolean {
  const rows = measured.map(row);
  const decided = CASES.flatMap(({ what }) => {
    const found = measured.find(({ one }) => one.what === what);
    return found === undefined ? [] : [decisionsOf(found)];
  });
  const on = `${machine()}; ${nodes} nodes, ${seconds} s of each fault, and as long before and after it`;
  process.stdout.write(`\n${on}\n${textTable(HEAD, rows)}\n${decided.join("\n")}\n`);
  const kept = holds(measured);
  if (!write) return kept;
  const page = [`Measured on ${on}; the load is that after the last one.`, markdownTable(HEAD, rows), ...decided];
  return writeFigures("outage figures", page.join("\n\n")).then(() => kept);
}

function row(measured: Measured): string[] {
  const { one, told, before, during, after, back } = measured;
  return [
    one.what,
    one.pods,
    told,
    before.rate.toFixed(0),
    during.rate.toFixed(0),
    after.rate.toFixed(0),
    ratioOf(measured).toFixed(2),
    `≥ ${one.least}`,
    [before, during, after].map(({ cpuMs }) => cpuMs.toFixed(2)).join(" → "),
    back.toFixed(1),
    `< ${BACK_WITHIN}`,
  ];
}

/** To the mean of the rates around it, for a machine has better and worse minutes. */
function ratioOf({ before, during, after }: Measured): number {
  return during.rate / ((before.rate + after.rate) / 2);
}

function decisionsOf({ one, decisions, unknown, mixed }: Measured): string {
  return `${one.what}: ${decisions} decisions, ${unknown} by a version that nobody served, ${mixed} that mixed two versions for one pod.`;
}

function holds(measured: readonly Measured[]): boolean {
  const broken = measured.flatMap((each) => {
    const { one, told, back, unknown, mixed } = each;
    const checks: readonly [string, boolean][] = [
      ["placing became slower than promised", ratioOf(each) >= one.least],
      ["the function was used again later than promised", back < BACK_WITHIN],
      ["decisions named other versions than they should", unknown + mixed === 0],
    ];
    return checks.filter(([, kept]) => !kept).map(([what]) => `${one.what}, the function ${told}: ${what}`);
  });
  for (const each of broken) process.stderr.write(`${each}\n`);
  return broken.length === 0;
}
