import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { applyInfra } from "../e2e/binder.ts";
import { bare, binder, type StartArm } from "./binder-arms.ts";
import { type CacheFigures, measureCache } from "./binder-cache.ts";
import { checkBound, createTargets, type Kind } from "./binder-targets.ts";
import type { Choice } from "./choice.ts";
import { type Measuring, median } from "./measure.ts";
import { writeFigures } from "./page.ts";
import { machine, markdownTable, textTable } from "./report.ts";
import { usageOf } from "./usage.ts";

/** As many binds at a time as kube-scheduler has in flight here. */
const CONCURRENCY = 16;

const RUNS = 5;

/** Pods that are bound before a run counts: compilers of a program that runs for months settle within seconds. */
const WARM_UP = 1_000;

/** What is measured: the binder beside the bare client. */
interface Scenario {
  readonly name: string;
  readonly kind: Kind;
  /** The ratio that is promised, where one is. */
  readonly least?: number;
  /** Whether the caller writes `Scheduled`. */
  readonly scheduled: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "plain, Bindings alone", kind: "plain", scheduled: false },
  { name: "plain, and Scheduled by the caller", kind: "plain", least: 0.7, scheduled: true },
  { name: "device", kind: "device", least: 0.3, scheduled: false },
];

const ARMS = [binder, bare] as const;

interface Rates {
  readonly scenario: Scenario;
  /** Binds per second of each run. */
  readonly binder: readonly number[];
  readonly bare: readonly number[];
  /** CPU of the binder per bind in milliseconds, of each run. */
  readonly cpuMs: readonly number[];
}

/** Measures binds, prints a table, and answers whether the binder keeps what the documentation promises. */
export async function benchBinds({ smoke, write, progress, ...chosen }: Choice): Promise<boolean> {
  const on = machine();
  const pods = chosen.pods ?? (smoke ? 32 : 4_000);
  const runs = chosen.runs ?? (smoke ? 1 : RUNS);
  const rates = await withPlane((plane) => measureAll(plane, pods, { runs, progress }));
  const rows = rates.map(row);
  process.stdout.write(`\n${on}\n${textTable(HEAD, rows)}\n`);
  if (write)
    await writeFigures("bind figures", measuredOn(`${on}, ${runs} runs of ${pods} pods`, markdownTable(HEAD, rows)));
  const slow = rates.filter((each) => ratio(each) < (each.scenario.least ?? 0));
  for (const each of slow) process.stderr.write(`${each.scenario.name}: below ${each.scenario.least}\n`);
  return slow.length === 0;
}

/** Measures what it takes to know a large cluster, prints a table, and answers as {@link benchBinds} does. */
export async function benchCache({ smoke, write, progress, ...chosen }: Choice): Promise<boolean> {
  const on = machine();
  const { nodes = smoke ? 20 : 5_000, pods = smoke ? 100 : 50_000, runs = smoke ? 1 : RUNS } = chosen;
  const cache = await withPlane((plane) => measureCache(plane, { nodes, pods }, { runs, progress }));
  process.stdout.write(`\n${on}\n${textTable(CACHE_HEAD, [cacheRow(cache)])}\n`);
  if (write)
    await writeFigures(
      "cache figures",
      measuredOn(`${on}, ${runs} starts`, markdownTable(CACHE_HEAD, [cacheRow(cache)])),
    );
  return median(cache.peakBytes) < 600e6 && median(cache.seconds) < 20;
}

function measuredOn(what: string, table: string): string {
  return `Measured on ${what}; the load is that before the first run.\n\n${table}`;
}

async function withPlane<T>(work: (plane: ControlPlane) => Promise<T>): Promise<T> {
  await requirePrograms(controlPlanePrograms([]));
  const plane = await startControlPlane();
  try {
    await applyInfra(plane);
    return await work(plane);
  } finally {
    await plane.stop();
  }
}

async function measureAll(plane: ControlPlane, count: number, measuring: Measuring): Promise<Rates[]> {
  const all: Rates[] = [];
  for (const scenario of SCENARIOS) all.push(await measureScenario(plane, scenario, { count, ...measuring }));
  return all;
}

async function measureScenario(
  plane: ControlPlane,
  scenario: Scenario,
  { count, runs, progress }: Measuring & { readonly count: number },
): Promise<Rates> {
  const { name } = scenario;
  const rates: [number[], number[]] = [[], []];
  const cpuMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    for (const arm of [0, 1] as const) {
      const id = `r${SCENARIOS.indexOf(scenario)}-${run}-${arm}`;
      const { rate, cpuMs: cpu } = await measureRun(plane, ARMS[arm], { ...scenario, count, run: id });
      rates[arm].push(rate);
      if (cpu !== undefined) cpuMs.push(cpu);
      progress(`${name} binds: run ${run + 1} of ${runs}, ${["binder", "bare client"][arm]}: ${rate.toFixed(0)}/s`);
    }
  }
  return { scenario, binder: rates[0], bare: rates[1], cpuMs };
}

interface Run extends Scenario {
  readonly count: number;
  readonly run: string;
}

/** The events about the pods are part of a run; some more pods come first and do not count, until compilers are warm. */
async function measureRun(
  plane: ControlPlane,
  start: StartArm,
  { kind, scheduled, count, run }: Run,
): Promise<{ readonly rate: number; readonly cpuMs?: number }> {
  const warmUp = Math.min(count, WARM_UP);
  const targets = await createTargets(plane, { kind, run, count: count + warmUp });
  const arm = await start(plane, scheduled);
  const cpu = async () => (arm.pid === undefined ? Number.NaN : (await usageOf(arm.pid)).cpuMs);
  try {
    await arm.bindAll(targets.slice(0, warmUp), CONCURRENCY);
    const [before, started] = [await cpu(), performance.now()];
    await arm.bindAll(targets.slice(warmUp), CONCURRENCY);
    const seconds = (performance.now() - started) / 1000;
    const cpuMs = ((await cpu()) - before) / count;
    await checkBound(plane, run, targets);
    return { rate: count / seconds, ...(!Number.isNaN(cpuMs) && { cpuMs }) };
  } finally {
    await arm.stop();
  }
}

function ratio({ binder, bare }: Rates): number {
  return median(binder) / median(bare);
}

const HEAD = [
  "binds",
  "binder, per second",
  "min…max",
  "bare client, per second",
  "min…max",
  "ratio",
  "promised",
  "binder CPU, ms each",
];

function row(rates: Rates): string[] {
  const { scenario, binder, bare, cpuMs } = rates;
  const range = (values: readonly number[]) => `${Math.min(...values).toFixed(0)}…${Math.max(...values).toFixed(0)}`;
  const each = [binder, bare].flatMap((values) => [median(values).toFixed(0), range(values)]);
  return [
    scenario.name,
    ...each,
    ratio(rates).toFixed(2),
    scenario.least === undefined ? "" : `≥ ${scenario.least}`,
    median(cpuMs).toFixed(2),
  ];
}

const CACHE_HEAD = ["cached", "ready after (s)", "min…max", "peak memory (MB)", "when ready (MB)"];

function cacheRow({ nodes, pods, seconds, peakBytes, bytes }: CacheFigures): string[] {
  const megabytes = (values: readonly number[]) => (median(values) / 1e6).toFixed(0);
  const range = `${Math.min(...seconds).toFixed(1)}…${Math.max(...seconds).toFixed(1)}`;
  return [`${nodes} nodes, ${pods} pods`, median(seconds).toFixed(1), range, megabytes(peakBytes), megabytes(bytes)];
}
