import { cpus } from "node:os";
import { median } from "./measure.ts";
import { goAllVerbs, goByNames, type RelayRival, relay, relayFar, relayShadow } from "./relay-arms.ts";
import type { Pods } from "./relay-cluster.ts";

/** The same pods for every rival. */
export interface Case {
  readonly pods: Pods;
  /** `percentageOfNodesToScore`; undefined is kube-scheduler's default. */
  readonly percentage?: number;
}

/** What one rival took for one case, run by run. */
export interface Measured {
  readonly one: Case;
  readonly rival: string;
  readonly rates: readonly number[];
  readonly cpuMs: readonly number[];
  /** Of the last run, warm-up included: what its binder counted of the function. */
  readonly asked: Asked | undefined;
}

/** What was asked of the function, per pod. */
export interface Asked {
  readonly questions: number;
  readonly bytes: number;
  readonly waits: number;
}

/** Of the rows of {@link row}. */
export const HEAD = [
  "pods",
  "% scored",
  "beside kube-scheduler",
  "pods/s",
  "min…max",
  "÷ Go, all verbs",
  "÷ Go, filter and prioritize",
  "its CPU, ms per pod",
  "waits, questions, bytes per pod",
];

/** One rival's row. */
export function row({ one, rival, rates, cpuMs, asked }: Measured, all: readonly Measured[]): string[] {
  const beside = (other: RelayRival) => ratio({ rates }, found(all, one, other)).toFixed(2);
  const { waits = 0, questions = 0, bytes = 0 } = asked ?? {};
  return [
    one.pods,
    String(one.percentage ?? "default"),
    rival,
    median(rates).toFixed(0),
    `${Math.min(...rates).toFixed(0)}…${Math.max(...rates).toFixed(0)}`,
    beside(goAllVerbs),
    beside(goByNames),
    Number.isNaN(median(cpuMs)) ? "" : median(cpuMs).toFixed(2),
    questions > 0 ? `${waits.toFixed(3)}, ${questions.toFixed(3)}, ${bytes.toFixed(0)}` : "",
  ];
}

/** Each case once. */
export function casesOf(all: readonly Measured[]): Case[] {
  return [...new Set(all.map(({ one }) => one))];
}

/** The share of the relay's time per pod that a shadow may take. */
const SHADOW_MAY = 0.03;

/** What a shadow costs, measured in two ways, and in words. */
export interface ShadowCost {
  /** By how much the time per pod is longer: the median over pairs of runs that followed each other. */
  readonly time: number;
  /** What the binder's CPU per pod grows by, as a part of what all cores have in the relay's time per pod. */
  readonly cpu: number;
  readonly told: string;
}

/** Compares the runs with a shadow with those without. */
export function shadowCost(all: readonly Measured[], one: Case): ShadowCost {
  const [own, shadowed] = [found(all, one, relay), found(all, one, relayShadow)];
  const time = ratio(own, shadowed) - 1;
  const more = median(shadowed.cpuMs) - median(own.cpuMs);
  const available = (cpus().length * 1000) / median(own.rates);
  const cpu = more / available;
  const percent = (part: number) => `${(part * 100).toFixed(1)} %`;
  const told =
    `A shadow, ${one.pods}: time per pod ${percent(time)} longer, run beside run; ${more.toFixed(2)} ms more CPU of the ` +
    `binder per pod, ${percent(cpu)} of what the cores have in the relay's time per pod (promised: < ${percent(SHADOW_MAY)}).`;
  return { time, cpu, told };
}

/**
 * What docs/performance.md promises: as fast as the Go extender that does the same, four fifths of the relay with one far
 * plugin, three percent for a shadow. What is broken goes to standard error.
 */
export function kept(all: readonly Measured[]): boolean {
  const broken = casesOf(all).flatMap((one) => {
    const own = found(all, one, relay);
    const [go, far] = [ratio(own, found(all, one, goAllVerbs)), ratio(found(all, one, relayFar), own)];
    const { time, cpu } = shadowCost(all, one);
    const checks: readonly [string, boolean][] = [
      ["the relay beside the Go extender with all verbs", go >= 1],
      ["one plugin in the function only, beside the relay", one.pods !== "5 templates" || far >= 0.8],
      // Rates of a busy machine scatter by more than that: only what both ways say is said.
      ["a shadow beside none", Math.min(time, cpu) < SHADOW_MAY],
    ];
    return checks.filter(([, holds]) => !holds).map(([what]) => `${one.pods}: ${what}`);
  });
  for (const each of broken) process.stderr.write(`slower than promised: ${each}\n`);
  return broken.length === 0;
}

type Rates = Pick<Measured, "rates">;

/** Each run beside the other's of the same turn, and of these the median: a machine has better and worse minutes. */
function ratio(one: Rates, other: Rates): number {
  return median(one.rates.map((rate, run) => rate / (other.rates[run] ?? Number.NaN)));
}

function found(all: readonly Measured[], one: Case, { name }: RelayRival): Pick<Measured, "rates" | "cpuMs"> {
  return all.find((each) => each.one === one && each.rival === name) ?? { rates: [], cpuMs: [] };
}
