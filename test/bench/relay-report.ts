import { cpus } from "node:os";
import { median } from "./measure.ts";
import { goAllVerbs, type RelayRival, relayFar, relayShadow } from "./relay-arms.ts";
import type { Case, Placing, Turns } from "./relay-turns.ts";

/** What the relay and one rival took in turns: the relay's figure is the first of each run. */
export interface Measured extends Turns {
  readonly one: Case;
  readonly rival: RelayRival;
}

/** Of the rows of {@link row}. */
export const HEAD = [
  "pods",
  "% scored",
  "beside kube-scheduler",
  "pods/s",
  "the relay's, in turns with it",
  "relay ÷ this",
  "min…max",
  "CPU of it and of the relay, ms per pod",
  "waits, questions, bytes per pod",
];

/** One rival's row, beside the relay. */
export function row(measured: Measured): string[] {
  const { one, rival, asked } = measured;
  const ratios = ratiosOf(measured);
  const cpu = [1, 0].map((side) => middle(measured, side, "cpuMs")).filter((ms) => !Number.isNaN(ms));
  return [
    one.pods,
    String(one.percentage ?? "default"),
    rival.name,
    middle(measured, 1, "podsPerSecond").toFixed(0),
    middle(measured, 0, "podsPerSecond").toFixed(0),
    median(ratios).toFixed(2),
    `${Math.min(...ratios).toFixed(2)}…${Math.max(...ratios).toFixed(2)}`,
    cpu.map((ms) => ms.toFixed(2)).join(", "),
    asked.questions > 0 ? `${asked.waits.toFixed(3)}, ${asked.questions.toFixed(3)}, ${asked.bytes.toFixed(0)}` : "",
  ];
}

/** The relay's rate by the rival's, of each run: neighbouring turns have the same machine. */
function ratiosOf({ runs }: Measured): number[] {
  return runs.map(([own, other]) => own.podsPerSecond / other.podsPerSecond);
}

function middle({ runs }: Measured, side: number, which: keyof Placing): number {
  return median(runs.map((run) => run[side]?.[which] ?? Number.NaN));
}

/** The share of the relay's time per pod that a shadow may take. */
const SHADOW_MAY = 0.03;

/** What a shadow costs, measured in two ways, and in words. */
export interface ShadowCost {
  /** By how much the time per pod is longer. */
  readonly time: number;
  /** What the binder's CPU per pod grows by, as a part of what all cores have in the relay's time per pod. */
  readonly cpu: number;
  readonly told: string;
}

/** Compares the relay with a shadow with the one without. */
export function shadowCost(measured: Measured): ShadowCost {
  const time = median(ratiosOf(measured)) - 1;
  const more = median(measured.runs.map(([own, shadowed]) => shadowed.cpuMs - own.cpuMs));
  const cpu = more / ((cpus().length * 1000) / middle(measured, 0, "podsPerSecond"));
  const percent = (part: number) => `${(Math.abs(part) * 100).toFixed(1)} %`;
  const word = (part: number) => (part < 0 ? "less" : "more");
  const told =
    `A shadow, ${measured.one.pods}: ${percent(time)} ${word(time)} time per pod; ${Math.abs(more).toFixed(2)} ms ` +
    `${word(more)} of the binder's CPU per pod, which is ${percent(cpu)} of what the cores have in the relay's time per ` +
    `pod (promised: less than ${percent(SHADOW_MAY)} more).`;
  return { time, cpu, told };
}

/**
 * What docs/performance.md promises: as fast as the Go extender that does the same, four fifths of the relay with one far
 * plugin, three percent for a shadow. What is broken goes to standard error.
 */
export function kept(all: readonly Measured[]): boolean {
  const broken = all.filter((each) => !holds(each));
  for (const { one, rival } of broken) {
    process.stderr.write(`other than promised: the relay beside "${rival.name}", ${one.pods}\n`);
  }
  return broken.length === 0;
}

function holds(measured: Measured): boolean {
  const { one, rival } = measured;
  const ratio = median(ratiosOf(measured));
  if (rival === goAllVerbs) return ratio >= 1;
  if (rival === relayFar) return one.pods !== "5 templates" || 1 / ratio >= 0.8;
  if (rival !== relayShadow) return true;
  // Rates scatter by more than that: only what both ways say is said.
  const { time, cpu } = shadowCost(measured);
  return Math.min(time, cpu) < SHADOW_MAY;
}
