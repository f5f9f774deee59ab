import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { applyInfra } from "../e2e/binder.ts";
import type { Choice } from "./choice.ts";
import { writeFigures } from "./page.ts";
import { goAllVerbs, goByNames, plain, type RelayRival, relay, relayFar, relayShadow } from "./relay-arms.ts";
import { createRelayNodes, measureRelay, type RelayFigure } from "./relay-cluster.ts";
import { type Asked, type Case, casesOf, HEAD, kept, type Measured, row, shadowCost } from "./relay-report.ts";
import { machine, markdownTable, textTable } from "./report.ts";

const RUNS = 5;

/** So many times the pods that count are placed first: V8 goes on compiling for some thousands of pods. */
const WARM_UP = 3;

const RIVALS = [plain, goByNames, goAllVerbs, relay, relayFar, relayShadow] as const;

const KINDS = { templates: "5 templates", different: "all different" } as const;

interface Size {
  /** Pods that count. */
  readonly count: number;
  readonly runs: number;
}

/** Measures pods per second, prints a table, and answers whether the relay keeps what the documentation promises. */
export async function benchRelay({ smoke, write, progress, ...chosen }: Choice): Promise<boolean> {
  const on = machine();
  const { nodes = smoke ? 20 : 1_000, pods: count = smoke ? 20 : 1_000, runs = smoke ? 1 : RUNS, percentage } = chosen;
  const both = smoke ? (["templates"] as const) : (["templates", "different"] as const);
  const kinds = chosen.kind === undefined ? both : [chosen.kind];
  await requirePrograms([
    ...controlPlanePrograms([apiServerVersion]),
    { name: "goextender", version: apiServerVersion },
  ]);
  const plane = await startControlPlane();
  const all: Measured[] = [];
  try {
    await applyInfra(plane);
    await createRelayNodes(plane, nodes);
    for (const kind of kinds) {
      const one: Case = { pods: KINDS[kind], ...(percentage !== undefined && { percentage }) };
      all.push(...(await measureCase(plane, { one, count, runs, progress })));
    }
  } finally {
    await plane.stop();
  }
  const rows = all.map((each) => row(each, all));
  const shadows = casesOf(all).map((one) => shadowCost(all, one).told);
  const size = `${nodes} nodes, ${runs} runs of ${count} pods that count, after ${WARM_UP * count} that do not`;
  process.stdout.write(`\n${on}, ${size}\n${textTable(HEAD, rows)}\n${shadows.join("\n")}\n`);
  const page = [
    `Measured on ${on}; ${size}; the load is that before the first run.`,
    markdownTable(HEAD, rows),
    ...shadows,
  ];
  if (write) await writeFigures(blockOf(nodes, percentage), page.join("\n\n"));
  return kept(all);
}

/** Where the page has the figures of such a cluster. */
function blockOf(nodes: number, percentage: number | undefined): string {
  const unlike = [nodes !== 1_000 && `${nodes} nodes`, percentage !== undefined && `${percentage} %`].filter(Boolean);
  return ["relay figures", ...unlike].join(", ");
}

async function measureCase(
  plane: ControlPlane,
  { one, count, runs, progress }: Size & { readonly one: Case; progress(message: string): void },
): Promise<Measured[]> {
  const taken = RIVALS.map((rival) => ({ rival, figures: [] as RelayFigure[], asked: undefined as Asked | undefined }));
  for (let run = 0; run < runs; run++) {
    // There and back: who comes after whom must not be the same each time.
    for (const each of run % 2 === 0 ? taken : taken.toReversed()) {
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
    const figure = await measureRelay(plane, {
      ...one,
      warmUp: WARM_UP * count,
      count,
      extenders,
      ...(pid !== undefined && { pid }),
    });
    return { figure, asked: arm.metrics && readAsked(await arm.metrics(), (WARM_UP + 1) * count) };
  } finally {
    await arm.stop();
  }
}

function readAsked(metrics: string, pods: number): Asked {
  const perPod = (name: string) =>
    [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    ) / pods;
  return {
    questions: perPod("berth_far_questions_total"),
    bytes: perPod("berth_far_bytes_total"),
    waits: perPod("berth_far_waits_total"),
  };
}
