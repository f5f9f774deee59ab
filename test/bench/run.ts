import { parseArgs } from "node:util";
import { benchBinds, benchCache } from "./binder-run.ts";
import { type Choice, readChoice } from "./choice.ts";
import { benchDirect } from "./direct-run.ts";
import { type Case, measure } from "./measure.ts";
import { benchOutage } from "./outage-run.ts";
import { writeFigures } from "./page.ts";
import { benchQuiet } from "./quiet-run.ts";
import { benchRelay } from "./relay-run.ts";
import { asMarkdown, asTable, type Measured, machine } from "./report.ts";
import { berth, go } from "./rivals.ts";
import { benchScheduler } from "./scheduler-run.ts";
import { workerStartup } from "./startup.ts";

const HELP = `npm run bench                     measures the function beside a Go extender and prints a table
npm run bench -- binder           measures binds of the binder beside a bare client of the API server
npm run bench -- direct           measures kube-scheduler with whole nodes sent to the function, a Go extender and an oracle
npm run bench -- cache            measures what it takes the binder to know a large cluster
npm run bench -- quiet            measures new pods while others wait refused and pods' statuses change
npm run bench -- scheduler        measures berth schedule beside kube-scheduler, with the same plugins
npm run bench -- relay            measures pods per second of kube-scheduler with the relay beside it, and others
npm run bench -- outage           measures the same while the function fails in mid-load, and how soon it is used again

  --write           also writes the figures to docs/performance.md
  --smoke           one small run that only shows that everything works
  --runs N          runs of each rival, in turns; the figures are their medians
  --nodes N         nodes of the cluster (cache, direct, outage, relay, scheduler), or the one size of the function's requests
  --pods N          pods that count in each run (binder, cache, direct, quiet, relay, scheduler)
  --percentage N    kube-scheduler's percentageOfNodesToScore (direct, relay, outage); default: kube-scheduler's own
  --kind KIND       relay: only pods of five templates (templates) or only pods that all differ (different)
  --seconds N       outage: how long each fault lasts, and the time before it

Of the function, CPU time and peak memory of the whole process per request, over HTTPS with kept connections; of the
binder, binds per second at an API server, and what it takes to know a large cluster. Exit code 1 when a figure is worse
than what the documentation promises.
`;

/** How many times less CPU than Go's encoding/json the documentation promises. */
const PROMISED = { filter: 5, prioritize: 6 } as const;

const SIZES = [100, 500, 1000];

const RUNS = 5;

function casesOf(nodeCounts: readonly number[]): Case[] {
  return nodeCounts.flatMap((nodes) =>
    (["prioritize", "filter"] as const).map((verb) => ({ verb, nodes, bytesPerNode: nodes < 1000 ? 13_500 : 17_000 })),
  );
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      nodes: { type: "string" },
      pods: { type: "string" },
      runs: { type: "string" },
      percentage: { type: "string" },
      kind: { type: "string" },
      seconds: { type: "string" },
    },
  });
  const subject = SUBJECTS.get(positionals.join(" "));
  if (values.help || subject === undefined) {
    process.stdout.write(HELP);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const kept = await subject(readChoice(values, progress));
  process.exitCode = values.smoke || kept ? 0 : 1;
}

const SUBJECTS = new Map<string, (choice: Choice) => Promise<boolean>>([
  ["", benchFunction],
  ["binder", benchBinds],
  ["direct", benchDirect],
  ["relay", benchRelay],
  ["outage", benchOutage],
  ["cache", benchCache],
  ["scheduler", benchScheduler],
  ["quiet", benchQuiet],
]);

async function benchFunction({ smoke, write, nodes, runs = smoke ? 1 : RUNS }: Choice): Promise<boolean> {
  const sizes = nodes === undefined ? SIZES : [nodes];
  const measured: Measured[] = [];
  for (const one of casesOf(smoke ? [20] : sizes)) {
    measured.push({ one, figures: await measure(one, [berth, go("v1"), go("v2")], { runs, progress }) });
  }
  const startup = await workerStartup();
  process.stdout.write(`\n${machine()}\n${asTable(measured)}\nWorker:\n${startup.join("\n")}\n`);
  if (write) await writeFigures("figures", asPage(measured, startup));
  return keepsPromises(measured);
}

function progress(message: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${message}` : `${message}\n`);
}

function keepsPromises(measured: readonly Measured[]): boolean {
  const broken = measured.filter(({ one, figures }) => {
    const [own, rival] = figures;
    return own && rival && rival.cpuMs / own.cpuMs < PROMISED[one.verb];
  });
  for (const { one } of broken) {
    process.stderr.write(`${one.verb}, ${one.nodes} nodes: less than ${PROMISED[one.verb]} times better\n`);
  }
  return broken.length === 0;
}

function asPage(measured: readonly Measured[], startup: readonly string[]): string {
  const worker = `Start-up of the Worker:\n\n\`\`\`text\n${startup.join("\n")}\n\`\`\``;
  return `Measured on ${machine()}.\n\n${asMarkdown(measured)}\n\n${worker}`;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
