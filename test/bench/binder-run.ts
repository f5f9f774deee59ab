import Table from "cli-table3";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { applyInfra } from "../e2e/binder.ts";
import { type Arm, bare, binder, type StartArm, withScheduled } from "./binder-arms.ts";
import { type CacheFigures, measureCache } from "./binder-cache.ts";
import { checkBound, createTargets, inParallel, type Kind } from "./binder-targets.ts";
import { type Measuring, median } from "./measure.ts";
import { writeFigures } from "./page.ts";
import { machine } from "./report.ts";

/** As many binds at a time as kube-scheduler has in flight here. */
const CONCURRENCY = 16;

/** What is measured: the binder beside the bare client. */
interface Scenario {
  readonly name: string;
  readonly kind: Kind;
  readonly least: number;
  readonly arms: readonly [StartArm, StartArm];
}

const SCENARIOS: readonly Scenario[] = [
  { name: "plain", kind: "plain", least: 0.7, arms: [binder, bare] },
  {
    name: "plain, and Scheduled by the caller",
    kind: "plain",
    least: 0.7,
    arms: [withScheduled(binder), withScheduled(bare)],
  },
  { name: "device", kind: "device", least: 0.3, arms: [binder, bare] },
];

interface Rates {
  readonly scenario: Scenario;
  /** Binds per second of each run. */
  readonly binder: readonly number[];
  readonly bare: readonly number[];
}

/** What may be chosen. */
export interface BinderBench {
  readonly smoke: boolean;
  readonly write: boolean;
  progress(message: string): void;
}

/** Measures the binder, prints a table, and answers whether it keeps what the documentation promises. */
export async function benchBinder({ smoke, write, progress }: BinderBench): Promise<boolean> {
  await requirePrograms(controlPlanePrograms([]));
  const on = machine();
  const measuring = { runs: smoke ? 1 : 5, progress };
  const rates = await withPlane((plane) => measureAll(plane, smoke ? 32 : 1_600, measuring));
  const size = smoke ? { nodes: 20, pods: 100 } : { nodes: 5_000, pods: 50_000 };
  const cache = await withPlane((plane) => measureCache(plane, size, measuring));
  process.stdout.write(`\n${on}\n${asText(HEAD, rates.map(row))}\n${asText(CACHE_HEAD, [cacheRow(cache)])}\n`);
  if (write) {
    const tables = [asMarkdown(HEAD, rates.map(row)), asMarkdown(CACHE_HEAD, [cacheRow(cache)])];
    await writeFigures("binder figures", `Measured on ${on} before the first run.\n\n${tables.join("\n\n")}`);
  }
  const slow = rates.filter((each) => ratio(each) < each.scenario.least);
  for (const each of slow) process.stderr.write(`${each.scenario.name}: below ${each.scenario.least}\n`);
  return slow.length === 0 && median(cache.peakBytes) < 600e6 && median(cache.seconds) < 20;
}

async function withPlane<T>(work: (plane: ControlPlane) => Promise<T>): Promise<T> {
  const plane = await startControlPlane();
  try {
    await applyInfra(plane);
    return await work(plane);
  } finally {
    await plane.stop();
  }
}

async function measureAll(plane: ControlPlane, count: number, { runs, progress }: Measuring): Promise<Rates[]> {
  const all: Rates[] = [];
  for (const [number, scenario] of SCENARIOS.entries()) {
    const rates: [number[], number[]] = [[], []];
    for (let run = 0; run < runs; run++) {
      for (const arm of [0, 1] as const) {
        progress(`${scenario.name} binds: run ${run + 1} of ${runs}, ${arm === 0 ? "binder" : "bare client"}`);
        rates[arm].push(
          await rateOf(plane, scenario.arms[arm], { kind: scenario.kind, count, run: `r${number}-${run}-${arm}` }),
        );
      }
    }
    all.push({ scenario, binder: rates[0], bare: rates[1] });
  }
  return all;
}

interface Run {
  readonly kind: Kind;
  readonly count: number;
  readonly run: string;
}

/** Binds per second, the events about the pods included; a tenth more of them come first and do not count. */
async function rateOf(plane: ControlPlane, start: StartArm, { kind, count, run }: Run): Promise<number> {
  const warmUp = Math.ceil(count / 10);
  const targets = await createTargets(plane, { kind, run, count: count + warmUp });
  const arm = await start(plane);
  try {
    await bindAll(arm, targets.slice(0, warmUp));
    const started = performance.now();
    await bindAll(arm, targets.slice(warmUp));
    const seconds = (performance.now() - started) / 1000;
    await checkBound(plane, run, targets);
    return count / seconds;
  } finally {
    await arm.stop();
  }
}

async function bindAll(arm: Arm, targets: Parameters<Arm["bind"]>[0][]): Promise<void> {
  await inParallel(targets, CONCURRENCY, (target) => arm.bind(target));
  await arm.settled();
}

function ratio({ binder, bare }: Rates): number {
  return median(binder) / median(bare);
}

const HEAD = ["binds", "binder, per second", "min…max", "bare client, per second", "min…max", "ratio", "promised"];

function row(rates: Rates): string[] {
  const { scenario, binder, bare } = rates;
  const range = (values: readonly number[]) => `${Math.min(...values).toFixed(0)}…${Math.max(...values).toFixed(0)}`;
  const each = [binder, bare].flatMap((values) => [median(values).toFixed(0), range(values)]);
  return [scenario.name, ...each, ratio(rates).toFixed(2), `≥ ${scenario.least}`];
}

const CACHE_HEAD = ["cached", "ready after (s)", "min…max", "peak memory (MB)", "when ready (MB)"];

function cacheRow({ nodes, pods, seconds, peakBytes, bytes }: CacheFigures): string[] {
  const megabytes = (values: readonly number[]) => (median(values) / 1e6).toFixed(0);
  const range = `${Math.min(...seconds).toFixed(1)}…${Math.max(...seconds).toFixed(1)}`;
  return [`${nodes} nodes, ${pods} pods`, median(seconds).toFixed(1), range, megabytes(peakBytes), megabytes(bytes)];
}

function asText(head: readonly string[], rows: readonly string[][]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows);
  return table.toString();
}

function asMarkdown(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
