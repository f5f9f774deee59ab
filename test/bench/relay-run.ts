import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { applyInfra } from "../e2e/binder.ts";
import { type Measuring, median } from "./measure.ts";
import { writeFigures } from "./page.ts";
import { goByNames, plain, type RelayRival, relay, relayFar, relayShadow } from "./relay-arms.ts";
import { createRelayNodes, measureRelay, type Pods, type RelayFigure } from "./relay-cluster.ts";
import { machine, markdownTable, textTable } from "./report.ts";

const RUNS = 5;

const RIVALS = [plain, goByNames, relay, relayFar, relayShadow] as const;

/** The same pods for every rival. */
interface Case {
  readonly pods: Pods;
  /** `percentageOfNodesToScore`; undefined is kube-scheduler's default. */
  readonly percentage?: number;
}

const CASES: readonly Case[] = [
  { pods: "5 templates" },
  { pods: "all different" },
  { pods: "5 templates", percentage: 100 },
  { pods: "all different", percentage: 100 },
];

/** What may be chosen. */
export interface RelayBench {
  readonly smoke: boolean;
  readonly write: boolean;
  /** Default 1,000. */
  readonly nodes?: string | undefined;
  /** Pods of each run; default 1,000. */
  readonly pods?: string | undefined;
  progress(message: string): void;
}

/** What one rival took for one case. */
interface Measured {
  readonly one: Case;
  readonly rival: string;
  readonly rates: readonly number[];
  readonly cpuMs: readonly number[];
  /** Of the last run: what its binder counted of the function. */
  readonly asked: Asked | undefined;
}

interface Asked {
  readonly questions: number;
  readonly bytes: number;
  readonly waited: number;
}

/** Measures pods per second, prints a table, and answers whether the relay keeps what the documentation promises. */
export async function benchRelay({ smoke, write, progress, ...chosen }: RelayBench): Promise<boolean> {
  const on = machine();
  const nodes = Number(chosen.nodes ?? (smoke ? 20 : 1_000));
  const count = Number(chosen.pods ?? (smoke ? 20 : 1_000));
  await requirePrograms([
    ...controlPlanePrograms([apiServerVersion]),
    { name: "goextender", version: apiServerVersion },
  ]);
  const plane = await startControlPlane();
  const all: Measured[] = [];
  try {
    await applyInfra(plane);
    await createRelayNodes(plane, nodes);
    const cases = smoke ? CASES.slice(0, 1) : CASES;
    for (const one of cases) all.push(...(await measureCase(plane, { one, count, runs: smoke ? 1 : RUNS, progress })));
  } finally {
    await plane.stop();
  }
  const rows = all.map((each) => row(each, all, count));
  process.stdout.write(`\n${on}, ${nodes} nodes, ${count} pods\n${textTable(HEAD, rows)}\n`);
  const about = `Measured on ${on}, ${nodes} nodes, ${count} pods in each run; the load is that before the first run.`;
  if (write) await writeFigures("relay figures", `${about}\n\n${markdownTable(HEAD, rows)}`);
  return kept(all);
}

async function measureCase(
  plane: ControlPlane,
  { one, count, runs, progress }: Measuring & { readonly one: Case; readonly count: number },
): Promise<Measured[]> {
  const taken = RIVALS.map((rival) => ({ rival, figures: [] as RelayFigure[], asked: undefined as Asked | undefined }));
  for (let run = 0; run < runs; run++) {
    for (const each of taken) {
      const { figure, asked } = await measureRun(plane, each.rival, { one, count });
      each.figures.push(figure);
      each.asked = asked;
      const rate = `${figure.podsPerSecond.toFixed(0)} pods/s`;
      progress(`${one.pods}, ${one.percentage ?? "default"} %: run ${run + 1} of ${runs}, ${each.rival.name}: ${rate}`);
    }
  }
  return taken.map(({ rival, figures, asked }) => ({
    one,
    rival: rival.name,
    rates: figures.map(({ podsPerSecond }) => podsPerSecond),
    cpuMs: figures.map(({ cpuMs }) => cpuMs),
    asked,
  }));
}

/** Whoever is not measured does not run: each process that follows the pods takes its share of the machine. */
async function measureRun(plane: ControlPlane, rival: RelayRival, { one, count }: { one: Case; count: number }) {
  const arm = await rival.start(plane);
  try {
    const { extenders, pid } = arm;
    const figure = await measureRelay(plane, { ...one, count, extenders, ...(pid !== undefined && { pid }) });
    return { figure, asked: arm.metrics && readAsked(await arm.metrics()) };
  } finally {
    await arm.stop();
  }
}

function readAsked(metrics: string): Asked {
  const sum = (name: string) =>
    [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  const [questions, bytes] = [sum("berth_far_questions_total"), sum("berth_far_bytes_total")];
  return { questions, bytes, waited: sum("berth_far_waits_total") };
}

const HEAD = [
  "pods",
  "% scored",
  "beside kube-scheduler",
  "pods/s",
  "min…max",
  "÷ Go",
  "its CPU, ms per pod",
  "waits, questions, bytes per pod",
];

function row({ one, rival, rates, cpuMs, asked }: Measured, all: readonly Measured[], count: number): string[] {
  const go = rateOf(all, one, goByNames);
  const per = (value: number, digits: number) => (value / count).toFixed(digits);
  return [
    one.pods,
    String(one.percentage ?? "default"),
    rival,
    median(rates).toFixed(0),
    `${Math.min(...rates).toFixed(0)}…${Math.max(...rates).toFixed(0)}`,
    (median(rates) / go).toFixed(2),
    Number.isNaN(median(cpuMs)) ? "" : median(cpuMs).toFixed(1),
    asked && asked.questions > 0 ? `${per(asked.waited, 3)}, ${per(asked.questions, 3)}, ${per(asked.bytes, 0)}` : "",
  ];
}

function rateOf(all: readonly Measured[], one: Case, { name }: RelayRival): number {
  return median(all.find((each) => each.one === one && each.rival === name)?.rates ?? []);
}

/** What docs/performance.md promises: as fast as Go, four fifths of that with one far plugin, three percent for a shadow. */
function kept(all: readonly Measured[]): boolean {
  const cases = [...new Set(all.map(({ one }) => one))];
  const broken = cases.flatMap((one) => {
    const [go, own, far, shadowed] = [goByNames, relay, relayFar, relayShadow].map((rival) => rateOf(all, one, rival));
    const checks: readonly [string, number | undefined, number][] = [
      ["the relay beside Go", own, go ?? 0],
      ["a far plugin beside the relay", one.pods === "5 templates" ? far : undefined, 0.8 * (own ?? 0)],
      ["a shadow beside none", shadowed, 0.97 * (own ?? 0)],
    ];
    return checks
      .filter(([, rate, least]) => rate !== undefined && rate < least)
      .map(([what]) => `${one.pods}: ${what}`);
  });
  for (const each of broken) process.stderr.write(`slower than promised: ${each}\n`);
  return broken.length === 0;
}
