import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Rival, StartRival } from "./rivals.ts";
import { requestBody } from "./scenario.ts";
import { usageOf } from "./usage.ts";

/** One question, asked of every rival. */
export interface Case {
  readonly verb: "filter" | "prioritize";
  readonly nodes: number;
  readonly bytesPerNode: number;
}

/** What one rival took for one case. */
export interface Figures {
  readonly rival: string;
  /** CPU per request in milliseconds: the median of the runs. */
  readonly cpuMs: number;
  /** CPU per request of every run, in milliseconds. */
  readonly runs: readonly number[];
  /** The most memory the process held, in bytes, over all runs of the case. */
  readonly peakBytes: number;
}

/** How a case is measured. */
export interface Measuring {
  readonly runs: number;
  /** Told of every run that begins. */
  readonly progress: (message: string) => void;
}

/** Requests before each run that do not count: compilers, pools and caches settle. */
const WARM_UP = 5;

/** CPU time is counted in steps of 10 ms: a run must last long enough for them not to matter. */
const BYTES_PER_RUN = 120e6;

/** One run is for seeing that everything works, and need not last. */
const REQUESTS_OF_A_SINGLE_RUN = 3;

/**
 * Measures a case: the rivals take turns, run by run, so that a busy moment of the machine hits all of them.
 *
 * @throws {Error} when the rivals do not decide alike: then their figures could not be compared
 */
export async function measure(
  one: Case,
  starts: readonly StartRival[],
  { runs: count, progress }: Measuring,
): Promise<Figures[]> {
  const body = requestBody(one.verb, one.nodes, one.bytesPerNode);
  const requests = count === 1 ? REQUESTS_OF_A_SINGLE_RUN : Math.max(5, Math.round(BYTES_PER_RUN / body.length));
  const folders = await Promise.all(starts.map(() => mkdtemp(join(tmpdir(), "berth-bench-"))));
  const rivals: Rival[] = [];
  try {
    for (const [index, start] of starts.entries()) rivals.push(await start(folders[index] as string));
    await compareAnswers(one, rivals, body);
    const runs = rivals.map((): number[] => []);
    for (let run = 0; run < count; run++) {
      for (const [index, rival] of rivals.entries()) {
        progress(`${one.verb}, ${one.nodes} nodes: run ${run + 1} of ${count}, ${rival.name}`);
        runs[index]?.push(await cpuPerRequest(rival, one, body, requests));
      }
    }
    return await Promise.all(
      rivals.map(async (rival, index) => ({
        rival: rival.name,
        cpuMs: median(runs[index] ?? []),
        runs: runs[index] ?? [],
        peakBytes: (await usageOf(rival.pid)).peakBytes,
      })),
    );
  } finally {
    await Promise.all(rivals.map((rival) => rival.stop()));
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }
}

async function cpuPerRequest(rival: Rival, { verb }: Case, body: Buffer, requests: number): Promise<number> {
  for (let request = 0; request < WARM_UP; request++) await rival.ask(verb, body);
  const before = await usageOf(rival.pid);
  for (let request = 0; request < requests; request++) await rival.ask(verb, body);
  const after = await usageOf(rival.pid);
  return (after.cpuMs - before.cpuMs) / requests;
}

/** All rivals must keep the same nodes, or order them alike. */
async function compareAnswers({ verb }: Case, rivals: readonly Rival[], body: Buffer): Promise<void> {
  const answers = await Promise.all(rivals.map(async (rival) => JSON.parse(String(await rival.ask(verb, body)))));
  const decided = answers.map((answer) => JSON.stringify(verb === "filter" ? keptNames(answer) : bestNodes(answer)));
  for (const [index, decision] of decided.entries()) {
    if (decision !== decided[0]) throw new Error(`${rivals[index]?.name} decides otherwise than ${rivals[0]?.name}`);
  }
}

function keptNames(answer: { Nodes: { items: { metadata: { name: string } }[] } }): string[] {
  return answer.Nodes.items.map((node) => node.metadata.name);
}

function bestNodes(answer: readonly { Host: string; Score: number }[]): string[] {
  const best = Math.max(...answer.map(({ Score }) => Score));
  return answer.filter(({ Score }) => Score === best).map(({ Host }) => Host);
}

/** The middle one of an odd number of values. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
