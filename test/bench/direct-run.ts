import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { prioritizeOnly } from "../e2e/scheduling.ts";
import type { Choice } from "./choice.ts";
import {
  away,
  type DirectArm,
  type DirectRival,
  goExtender,
  inWorkerd,
  onNode,
  oracle,
  wholeNodes,
} from "./direct-arms.ts";
import { median } from "./measure.ts";
import { writeFigures } from "./page.ts";
import { createRelayNodes, measureRelay } from "./relay-cluster.ts";
import { machine, markdownTable, textTable } from "./report.ts";

const BOTH = { filterVerb: "filter", ...prioritizeOnly };

/** Milliseconds to the extender and back, in the cases at a distance. */
const AWAY = 25;

/** The oracle is the first of each case, the Go extender the second; `oracle` and `go` are what ours has to reach of theirs. */
const CASES = [
  { verbs: BOTH, what: "filter + prioritize", oracle: 0.85, go: 1.4 },
  { verbs: prioritizeOnly, what: "prioritize only", oracle: 0.75, go: 2 },
].flatMap((one) => [
  { ...one, away: 0, rivals: [oracle, goExtender, onNode, inWorkerd] },
  { ...one, away: AWAY, rivals: [oracle, goExtender, onNode].map((rival) => away(rival, AWAY)) },
]);

type Case = (typeof CASES)[number];

/** Pods per second of each rival, run by run. */
interface Measured {
  readonly one: Case;
  readonly rates: readonly (readonly number[])[];
}

interface Size {
  readonly pods: number;
  readonly runs: number;
  readonly percentage?: number;
}

const RUNS = 5;

/**
 * Measures kube-scheduler with extenders that it sends whole nodes, end to end. True when the function reaches what the
 * documentation promises.
 */
export async function benchDirect({ smoke, write, progress, ...chosen }: Choice): Promise<boolean> {
  const on = machine();
  const nodes = chosen.nodes ?? (smoke ? 40 : 1_000);
  const size: Size = {
    pods: chosen.pods ?? (smoke ? 20 : 100),
    runs: chosen.runs ?? (smoke ? 1 : RUNS),
    ...(chosen.percentage !== undefined && { percentage: chosen.percentage }),
  };
  await requirePrograms(controlPlanePrograms([apiServerVersion]));
  const plane = await startControlPlane();
  const measured: Measured[] = [];
  try {
    await createRelayNodes(plane, nodes);
    for (const one of CASES) measured.push({ one, rates: await measureCase(plane, one, size, progress) });
  } finally {
    await plane.stop();
  }
  const rows = measured.flatMap(rowsOf);
  const sample = size.percentage === undefined ? "kube-scheduler's default sample" : `a sample of ${size.percentage} %`;
  const circumstances = `${on}; ${nodes} nodes of 13.5 KB, ${sample}, ${size.pods} pods in each of ${size.runs} runs, qps 5000`;
  process.stdout.write(`\n${circumstances}\n${textTable(HEAD, rows)}\n`);
  const page = `Measured on ${circumstances}; the load is that before the first run.\n\n${markdownTable(HEAD, rows)}`;
  if (write) await writeFigures("direct figures", page);
  return keepsPromises(measured);
}

/** The rivals take turns, run by run, each in one process that stays: a function is warm when it matters. */
async function measureCase(
  plane: ControlPlane,
  one: Case,
  size: Size,
  progress: (message: string) => void,
): Promise<number[][]> {
  const arms: DirectArm[] = [];
  const rates: number[][] = one.rivals.map(() => []);
  try {
    for (const rival of one.rivals) arms.push(await rival.start(plane));
    for (let run = 0; run < size.runs; run++) {
      for (const [index, arm] of arms.entries()) {
        const podsPerSecond = await measureArm(plane, arm, one, size);
        rates[index]?.push(podsPerSecond);
        const what = `${one.what}, ${one.away} ms away: run ${run + 1}, ${one.rivals[index]?.name}`;
        progress(`${what}: ${podsPerSecond.toFixed(1)} pods/s`);
      }
    }
  } finally {
    await Promise.all(arms.map((arm) => arm.stop()));
  }
  return rates;
}

function measureArm(plane: ControlPlane, arm: DirectArm, { verbs }: Case, size: Size): Promise<number> {
  return measureRelay(plane, {
    pods: "5 templates",
    count: size.pods,
    // The arms stay from run to run: only kube-scheduler itself begins anew.
    warmUp: Math.ceil(size.pods / 10),
    extenders: [wholeNodes(plane, arm, verbs)],
    ...(size.percentage !== undefined && { percentage: size.percentage }),
  });
}

const HEAD = ["verbs", "away", "extender", "pods/s", "min…max", "÷ oracle", "÷ Go", "promised"];

function rowsOf({ one, rates }: Measured): string[][] {
  return one.rivals.map((rival, index) => {
    const own = rates[index] ?? [];
    return [
      one.what,
      `${one.away} ms`,
      rival.name,
      median(own).toFixed(1),
      `${Math.min(...own).toFixed(1)}…${Math.max(...own).toFixed(1)}`,
      ratio(own, rates[0]).toFixed(2),
      ratio(own, rates[1]).toFixed(2),
      isOurs(rival) ? `≥ ${one.oracle} and ≥ ${one.go}` : "",
    ];
  });
}

function isOurs({ name }: DirectRival): boolean {
  return name === onNode.name || name === inWorkerd.name;
}

function ratio(own: readonly number[], others: readonly number[] | undefined): number {
  return median(own) / median(others ?? []);
}

function keepsPromises(measured: readonly Measured[]): boolean {
  let kept = true;
  for (const { one, rates } of measured) {
    for (const [index, rival] of one.rivals.entries()) {
      const own = rates[index] ?? [];
      if (!isOurs(rival) || (ratio(own, rates[0]) >= one.oracle && ratio(own, rates[1]) >= one.go)) continue;
      process.stderr.write(`${one.what}, ${one.away} ms away, ${rival.name}: less than promised\n`);
      kept = false;
    }
  }
  return kept;
}
