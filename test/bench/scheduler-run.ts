import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { buildNodes, createNodes } from "../controlplane/nodes.ts";
import type { Node } from "../controlplane/objects.ts";
import { controlPlanePrograms, requirePrograms, schedulerVersions } from "../controlplane/programs.ts";
import { applyScheduler } from "../e2e/scheduler.ts";
import type { Choice } from "./choice.ts";
import { median } from "./measure.ts";
import { writeFigures } from "./page.ts";
import { machine, markdownTable, textTable } from "./report.ts";
import { berth, kubeScheduler, type StartArm } from "./scheduler-arms.ts";
import { createPods, meanScore, removePods, watchBound } from "./scheduler-pods.ts";
import { usageOf } from "./usage.ts";

/** What one run of one scheduler came to. */
interface Run {
  /** Pods bound per second, warm-up not counted. */
  readonly rate: number;
  readonly score: number;
  readonly cpuMs: number;
  /** Requests to the API server per pod, by what was asked. */
  readonly requests: Readonly<Record<string, number>>;
}

const ARMS: readonly { readonly name: string; readonly start: StartArm }[] = [
  { name: "berth schedule", start: berth },
  { name: "kube-scheduler", start: kubeScheduler },
];

const RUNS = 3;

/** Pods that are bound first and do not count: compilers and connections settle. */
const WARM_UP = 0.1;

/** Measures `berth schedule` beside kube-scheduler. True when it is as fast and chooses as well. */
export async function benchScheduler({ smoke, write, ...options }: Choice): Promise<boolean> {
  const on = machine();
  const runsOfEach = options.runs ?? (smoke ? 1 : RUNS);
  const size = {
    nodes: options.nodes ?? (smoke ? 120 : 1_000),
    pods: options.pods ?? (smoke ? 100 : 2_000),
  };
  await requirePrograms(controlPlanePrograms([schedulerVersions.at(-1) ?? ""]));
  const plane = await startControlPlane();
  const runs: Run[][] = ARMS.map(() => []);
  try {
    await applyScheduler(plane);
    const nodes = await createNodes(plane.api, buildNodes(size.nodes, { seed: 1 }));
    for (let run = 0; run < runsOfEach; run++) {
      for (const [index, { name, start }] of ARMS.entries()) {
        const one = await measureRun(plane, nodes, { start, pods: size.pods, run: `run-${run}-${index}` });
        runs[index]?.push(one);
        options.progress(`${name}: run ${run + 1}: ${one.rate.toFixed(0)} pods/s, mean score ${one.score.toFixed(2)}`);
      }
    }
  } finally {
    await plane.stop();
  }
  const rows = ARMS.map(({ name }, index) => row(name, runs[index] ?? []));
  process.stdout.write(`\n${on}, ${size.nodes} nodes, ${size.pods} pods\n${textTable(HEAD, rows)}\n`);
  const measured = `Measured on ${on}; ${size.nodes} nodes, ${size.pods} pods in each run; the load is that before the first run.`;
  if (write) await writeFigures("scheduler figures", `${measured}\n\n${markdownTable(HEAD, rows)}`);
  return keepsPromises(runs);
}

async function measureRun(
  plane: ControlPlane,
  nodes: readonly Node[],
  { start, pods, run }: { readonly start: StartArm; readonly pods: number; readonly run: string },
): Promise<Run> {
  await createPods(plane, run, pods);
  const watcher = await watchBound(plane, run);
  const before = await requestCounts(plane);
  const arm = await start(plane, run);
  try {
    await watcher.reached(pods);
    const cpuMs = (await usageOf(arm.pid)).cpuMs / pods;
    // The last events are written while nobody waits for them.
    await settled(plane, pods);
    const requests = difference(before, await requestCounts(plane), pods);
    const { bound } = watcher;
    const first = bound[Math.floor(pods * WARM_UP)];
    const last = bound.at(-1);
    const counted = bound.length - Math.floor(pods * WARM_UP) - 1;
    const rate = (counted * 1000) / ((last?.at ?? 0) - (first?.at ?? 0));
    return { rate, score: await meanScore(nodes, bound), cpuMs, requests };
  } finally {
    await watcher.stop();
    await arm.stop();
    await removePods(plane, run);
  }
}

async function settled(plane: ControlPlane, pods: number): Promise<void> {
  const start = (await requestCounts(plane))["POST events"] ?? 0;
  for (let last = start, now = -1; now !== last; ) {
    last = now === -1 ? start : now;
    await new Promise((resolve) => setTimeout(resolve, 500));
    now = (await requestCounts(plane))["POST events"] ?? 0;
    if (now - start > 2 * pods) return;
  }
}

/** What schedulers ask of the API server; the benchmark itself asks for none of it but one watch. */
const COUNTED = /^(POST (binding|events)|PATCH (pods|events)|LIST (pods|nodes|events)|GET pods)$/;

async function requestCounts(plane: ControlPlane): Promise<Record<string, number>> {
  const text = await plane.api.request<string>({ method: "GET", path: "/metrics" }).catch((error) => String(error));
  const counts: Record<string, number> = {};
  for (const line of String(text).split("\n")) {
    const found = /^apiserver_request_total\{([^}]*)\} (\S+)/.exec(line);
    if (found === null) continue;
    const label = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(found[1] ?? "")?.[1] ?? "";
    const resource = label("subresource") === "binding" ? "binding" : label("resource");
    const key = `${label("verb")} ${resource}`;
    if (COUNTED.test(key)) counts[key] = (counts[key] ?? 0) + Number(found[2]);
  }
  return counts;
}

function difference(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  pods: number,
): Record<string, number> {
  const entries = Object.keys(after).map((key): [string, number] => [
    key,
    ((after[key] ?? 0) - (before[key] ?? 0)) / pods,
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value > 0).sort());
}

const HEAD = ["scheduler", "pods/s", "min…max", "mean score", "CPU ms/pod", "requests per pod"];

function row(name: string, runs: readonly Run[]): string[] {
  const rates = runs.map(({ rate }) => rate);
  const requests = Object.entries(runs.at(-1)?.requests ?? {}).map(([key, value]) => `${value.toFixed(3)} ${key}`);
  return [
    name,
    median(rates).toFixed(0),
    `${Math.min(...rates).toFixed(0)}…${Math.max(...rates).toFixed(0)}`,
    median(runs.map(({ score }) => score)).toFixed(2),
    median(runs.map(({ cpuMs }) => cpuMs)).toFixed(2),
    requests.join(", "),
  ];
}

function keepsPromises([own = [], theirs = []]: readonly (readonly Run[])[]): boolean {
  const ratio = (read: (run: Run) => number) => median(own.map(read)) / median(theirs.map(read));
  const [speed, score] = [ratio(({ rate }) => rate), ratio((run) => run.score)];
  if (speed < 1) process.stderr.write(`slower than kube-scheduler: ${speed.toFixed(2)}\n`);
  if (Math.abs(score - 1) > 0.02) process.stderr.write(`other scores than kube-scheduler's: ${score.toFixed(3)}\n`);
  return speed >= 1 && Math.abs(score - 1) <= 0.02;
}
