import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Case, measure } from "./measure.ts";
import { asMarkdown, asTable, type Measured, machine } from "./report.ts";
import { berth, go } from "./rivals.ts";
import { workerStartup } from "./startup.ts";

const HELP = `npm run bench                     measures the function beside a Go extender and prints a table
npm run bench -- --write          also writes it to docs/performance.md
npm run bench -- --nodes 100      one size only
npm run bench -- --smoke          one small run that only shows that everything works

CPU time and peak memory of the whole process per request, over HTTPS with kept connections, five alternating
runs of each rival, medians. Exit code 1 when a ratio is below what the documentation promises.
`;

/** How many times less CPU than Go's encoding/json the documentation promises. */
const PROMISED = { filter: 3, prioritize: 4 } as const;

const PAGE = new URL("../../docs/performance.md", import.meta.url);

const SIZES = [100, 500, 1000];

const RUNS = 5;

function casesOf(nodeCounts: readonly number[]): Case[] {
  return nodeCounts.flatMap((nodes) =>
    (["prioritize", "filter"] as const).map((verb) => ({ verb, nodes, bytesPerNode: nodes < 1000 ? 13_500 : 17_000 })),
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      write: { type: "boolean" },
      smoke: { type: "boolean" },
      nodes: { type: "string" },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const sizes = values.nodes === undefined ? SIZES : [Number(values.nodes)];
  const measured: Measured[] = [];
  for (const one of casesOf(values.smoke ? [20] : sizes)) {
    const runs = values.smoke ? 1 : RUNS;
    measured.push({ one, figures: await measure(one, [berth, go("v1"), go("v2")], { runs, progress }) });
  }
  const startup = await workerStartup();
  process.stdout.write(`\n${machine()}\n${asTable(measured)}\nWorker:\n${startup.join("\n")}\n`);
  if (values.write) await writePage(measured, startup);
  process.exitCode = values.smoke || keepsPromises(measured) ? 0 : 1;
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

/** Replaces what stands between the page's markers: the words around the figures are written by people. */
async function writePage(measured: readonly Measured[], startup: readonly string[]): Promise<void> {
  const figures = `Measured on ${machine()}.\n\n${asMarkdown(measured)}\n\nStart-up of the Worker:\n\n\`\`\`text\n${startup.join("\n")}\n\`\`\``;
  const page = await readFile(PAGE, "utf8");
  const [before, rest] = page.split("<!-- figures -->\n");
  const after = rest?.split("<!-- end of figures -->")[1];
  if (before === undefined || after === undefined) throw new Error("docs/performance.md has lost its markers");
  await writeFile(PAGE, `${before}<!-- figures -->\n${figures}\n<!-- end of figures -->${after}`);
}

await main();
