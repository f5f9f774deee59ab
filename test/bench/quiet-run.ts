import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { controlPlanePrograms, requirePrograms, schedulerVersions } from "../controlplane/programs.ts";
import { applyInfra, startBinder } from "../e2e/binder.ts";
import type { Choice } from "./choice.ts";
import { median } from "./measure.ts";
import { writeFigures } from "./page.ts";
import { createQuietNodes, measureQuiet, type QuietSize, type Setting, UPDATES_PER_SECOND } from "./quiet.ts";
import { machine, markdownTable, textTable } from "./report.ts";

const FULL: QuietSize = { nodes: 100, pending: 200, pods: 1_000 };
const SMALL: QuietSize = { nodes: 3, pending: 5, pods: 20 };
const RUNS = 3;

/** New pods must be placed at so much of the rate that they would be without noise, where the page's settings are used. */
const PROMISED = 0.8;

interface Rates {
  readonly setting: Setting;
  readonly calm: number[];
  readonly noisy: number[];
}

/**
 * Measures how much slower new pods are placed while others wait refused and still others report their status; prints
 * a table and answers whether that is as little as the documentation promises.
 */
export async function benchQuiet({ smoke, write, progress, ...chosen }: Choice): Promise<boolean> {
  const version = schedulerVersions.at(-1) ?? "";
  await requirePrograms(controlPlanePrograms([version]));
  const on = machine();
  const plane = await startControlPlane();
  try {
    const usual = smoke ? SMALL : FULL;
    const size = { ...usual, pods: chosen.pods ?? usual.pods };
    const rates = await measureAll(plane, size, { version, runs: chosen.runs ?? (smoke ? 1 : RUNS), progress });
    const rows = rates.map((each) => row(each, size));
    process.stdout.write(`\nkube-scheduler ${version}, ${on}\n${textTable(HEAD, rows)}\n`);
    if (write) {
      const what = `Measured with kube-scheduler ${version} on ${on}; the load is that before the first run.`;
      await writeFigures("quiet figures", `${what}\n\n${markdownTable(HEAD, rows)}`);
    }
    const tuned = rates.find(({ setting }) => setting === "tuned");
    return tuned !== undefined && ratio(tuned) >= PROMISED;
  } finally {
    await plane.stop();
  }
}

async function measureAll(
  plane: ControlPlane,
  size: QuietSize,
  { version, runs, progress }: { readonly version: string; readonly runs: number; progress(message: string): void },
): Promise<Rates[]> {
  await applyInfra(plane);
  const binder = await startBinder(plane, { name: "binder", open: true });
  await createQuietNodes(plane, size);
  const rates: Rates[] = (["tuned", "default"] as const).map((setting) => ({ setting, calm: [], noisy: [] }));
  for (let run = 1; run <= runs; run++) {
    for (const { setting, ...lists } of rates) {
      for (const how of ["calm", "noisy"] as const) {
        const rate = await measureQuiet(plane, binder, { version, setting, noisy: how === "noisy", size });
        lists[how].push(rate);
        progress(`${setting}, ${how}: run ${run} of ${runs}: ${rate.toFixed(0)} new pods/s`);
      }
    }
  }
  return rates;
}

function ratio({ calm, noisy }: Rates): number {
  return median(noisy) / median(calm);
}

const HEAD = [
  "kube-scheduler's settings",
  "new pods/s alone",
  "new pods/s in the noise",
  "ratio",
  "promised",
  "the noise",
];

function row(rates: Rates, { pending }: QuietSize): string[] {
  const tuned = rates.setting === "tuned";
  return [
    tuned ? "SchedulerPopFromBackoffQ=false, podMaxBackoffSeconds: 60" : "as they come",
    median(rates.calm).toFixed(0),
    median(rates.noisy).toFixed(0),
    ratio(rates).toFixed(2),
    tuned ? `≥ ${PROMISED}` : "",
    `${pending} refused pods, ${UPDATES_PER_SECOND} status updates/s`,
  ];
}
