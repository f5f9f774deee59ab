import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { controlPlanePrograms, requirePrograms, schedulerVersions } from "../controlplane/programs.ts";
import { applyInfra, startBinder } from "../e2e/binder.ts";
import type { Choice } from "./choice.ts";
import { median } from "./measure.ts";
import { writeFigures } from "./page.ts";
import { createQuietNodes, measureQuiet, type QuietSize, type Setting } from "./quiet.ts";
import { UPDATES_PER_SECOND } from "./quiet-noise.ts";
import { HALVES, type QuietFigures, type QuietPair } from "./quiet-turns.ts";
import { machine, markdownTable, textTable } from "./report.ts";

/** A pod waits 1, 2, 4, 8, 16, 32 and then 60 seconds after its tries; as it comes, 1, 2, 4, 8 and then 10. */
const FULL: QuietSize = {
  nodes: 200,
  pending: 200,
  pods: 250,
  tries: { tuned: 8, default: 6 },
  spread: { tuned: 60, default: 10 },
};
const SMALL: QuietSize = {
  nodes: 3,
  pending: 5,
  pods: 20,
  tries: { tuned: 1, default: 1 },
  spread: { tuned: 0, default: 0 },
};
const RUNS = 8;

/** New pods must be placed at so much of the rate that they would be without noise, where the page's settings are used. */
const PROMISED = 0.8;

/** What was measured, with pods that wait refused or without any. */
interface Rates {
  readonly setting: Setting;
  readonly refused: boolean;
  readonly pairs: readonly QuietPair[];
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
    const rows = rates.map((each) => rowOf(each, size));
    process.stdout.write(`\nkube-scheduler ${version}, ${on}\n${textTable(HEAD, rows)}\n`);
    if (write) {
      const what = `Measured with kube-scheduler ${version} on ${on}; the load is that before the first run.`;
      await writeFigures("quiet figures", `${what}\n\n${markdownTable(HEAD, rows)}`);
    }
    return rates.every((each) => !promisedOf(each) || ratio(each.pairs) >= PROMISED);
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
  const rates: Rates[] = [];
  for (const setting of ["tuned", "default"] as const) {
    for (const refused of [false, true]) {
      progress(`${setting}${refused ? ", pods wait refused" : ""}`);
      const pairs = await measureQuiet(plane, binder, { version, setting, refused, size, runs });
      for (const { amid, alone } of pairs) progress(`${told(amid)}; alone ${told(alone)}`);
      rates.push({ setting, refused, pairs });
    }
  }
  return rates;
}

/** The settings that the documentation asks for, and all that the promise is about. */
function promisedOf({ setting, refused }: Rates): boolean {
  return setting === "tuned" && refused;
}

function told({ rate, retries, binderMs }: QuietFigures): string {
  return `${rate.toFixed(0)} new pods/s, ${retries.toFixed(1)} retries/s, binder ${binderMs.toFixed(2)} ms CPU per pod`;
}

/** The turns with all that goes on beside those next to them without. */
function ratio(pairs: readonly QuietPair[]): number {
  return median(pairs.map(({ amid, alone }) => amid.rate / alone.rate));
}

function middle(pairs: readonly QuietPair[], when: keyof QuietPair, which: keyof QuietFigures): number {
  return median(pairs.map((pair) => pair[when][which]));
}

const HEAD = [
  "kube-scheduler's settings",
  "what goes on",
  "new pods/s meanwhile",
  "alone",
  "ratio",
  "promised",
  "retries/s",
  "binder CPU, ms per new pod",
];

function rowOf(rates: Rates, { pending }: QuietSize): string[] {
  const { setting, refused, pairs } = rates;
  return [
    setting === "tuned" ? "SchedulerPopFromBackoffQ=false, podMaxBackoffSeconds: 60" : "as they come",
    `${UPDATES_PER_SECOND} status updates/s${refused ? `, ${pending} refused pods` : ""}`,
    middle(pairs, "amid", "rate").toFixed(0),
    middle(pairs, "alone", "rate").toFixed(0),
    ratio(pairs).toFixed(2),
    promisedOf(rates) ? `≥ ${PROMISED}` : "",
    middle(pairs, "amid", "retries").toFixed(1),
    HALVES.map((half) => middle(pairs, half, "binderMs").toFixed(2)).join(", "),
  ];
}
