import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { applyInfra } from "../e2e/binder.ts";
import type { Choice } from "./choice.ts";
import { writeFigures } from "./page.ts";
import { goAllVerbs, goByNames, plain, relay, relayFar, relayShadow } from "./relay-arms.ts";
import { createRelayNodes } from "./relay-cluster.ts";
import { HEAD, kept, type Measured, row, shadowCost } from "./relay-report.ts";
import { type Case, type Size, takeTurns } from "./relay-turns.ts";
import { machine, markdownTable, textTable } from "./report.ts";

/** Each in turns with the relay. */
const RIVALS = [plain, goByNames, goAllVerbs, relayFar, relayShadow] as const;

const KINDS = { templates: "5 templates", different: "all different" } as const;

/** V8 goes on compiling for some thousands of pods. */
const FULL: Size = { count: 200, runs: 5, warmUp: 4_000 };
const SMALL: Size = { count: 8, runs: 1, warmUp: 4 };

/** Measures pods per second, prints a table, and answers whether the relay keeps what the documentation promises. */
export async function benchRelay({ smoke, write, progress, ...chosen }: Choice): Promise<boolean> {
  const on = machine();
  const { nodes = smoke ? 20 : 1_000, percentage } = chosen;
  const usual = smoke ? SMALL : FULL;
  const size = { ...usual, count: chosen.pods ?? usual.count, runs: chosen.runs ?? usual.runs };
  const both = smoke ? (["templates"] as const) : (["templates", "different"] as const);
  await requirePrograms([
    ...controlPlanePrograms([apiServerVersion]),
    { name: "goextender", version: apiServerVersion },
  ]);
  const plane = await startControlPlane();
  const all: Measured[] = [];
  try {
    await applyInfra(plane);
    await createRelayNodes(plane, nodes);
    for (const kind of chosen.kind === undefined ? both : [chosen.kind]) {
      const one: Case = { pods: KINDS[kind], ...(percentage !== undefined && { percentage }) };
      all.push(...(await measureCase(plane, { one, size, progress })));
    }
  } finally {
    await plane.stop();
  }
  const what = `${nodes} nodes, ${size.runs} times four turns of ${size.count} pods that count, after ${size.warmUp} pods of each that do not`;
  const shadows = all.flatMap((each) => (each.rival === relayShadow ? [shadowCost(each).told] : []));
  process.stdout.write(`\n${on}, ${what}\n${textTable(HEAD, all.map(row))}\n${shadows.join("\n")}\n`);
  const page = [
    `Measured on ${on}; ${what}; the load is that before the first run.`,
    markdownTable(HEAD, all.map(row)),
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
  { one, size, progress }: { readonly one: Case; readonly size: Size; progress(message: string): void },
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const rival of RIVALS) {
    const turns = await takeTurns(plane, [relay, rival], { one, size });
    const each = { one, rival, ...turns };
    measured.push(each);
    progress(row(each).join(" | "));
  }
  return measured;
}
