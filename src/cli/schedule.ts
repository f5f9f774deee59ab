import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { jsonLines } from "../extender/log.ts";
import { checkConfiguration } from "../policy/configuration.ts";
import { checkFacts } from "../policy/facts.ts";
import type { Check } from "../policy/faults.ts";
import { registry } from "../policy/registry.ts";
import { formatFault, readDocument } from "../policy/source.ts";
import { decideOnly } from "../scheduler/dry.ts";
import { IGNORABLE } from "../scheduler/needs.ts";
import type { DryDecision, InformerModeOptions, RunningScheduler } from "../scheduler/options.ts";
import { chosenPolicy, type Loaded, noFacts } from "../scheduler/policies.ts";
import { seededRandom } from "../scheduler/sampling.ts";
import { startScheduler } from "../scheduler/start.ts";
import { decideWatched, startWatching } from "../scheduler/watch.ts";
import { CommandError } from "./command-error.ts";
import { stopSignal } from "./stop-signal.ts";

/** The options of `berth schedule`, as commander gives them. */
export interface ScheduleOptions {
  readonly schedulerName: string;
  readonly mode: "informer" | "watch";
  readonly config?: string;
  readonly facts?: string;
  readonly profile?: string;
  readonly policyFile?: string;
  readonly ignore: readonly string[];
  readonly percentageOfNodesToScore: number;
  readonly seed?: number;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly leaseNamespace?: string;
  readonly listen: string;
  readonly dryRun: boolean;
  readonly output: "text" | "json";
}

/**
 * Runs the scheduler until SIGTERM, SIGINT or SIGHUP, with a log of JSON lines on stdout; or, with `--dry-run`, prints
 * what it would do and ends.
 *
 * @throws an error whose message is for people: an option, a file, a credential or the port is not usable
 */
export async function schedule(options: ScheduleOptions): Promise<void> {
  const stop = stopSignal();
  const write = options.dryRun ? process.stderr : process.stdout;
  const log = jsonLines((line) => void write.write(`${line}\n`), Date.now);
  const settings = { ...(await settingsOf(options)), log };
  if (options.dryRun) {
    const decide = options.mode === "watch" ? decideWatched : decideOnly;
    await decide(settings, (decision) => void process.stdout.write(`${dryLine(decision, options.output)}\n`));
    return;
  }
  const running: RunningScheduler = await (options.mode === "watch" ? startWatching : startScheduler)(settings);
  log("info", "scheduling", {
    schedulerName: options.schedulerName,
    mode: options.mode,
    ...(running.url !== undefined && { url: running.url }),
  });
  if (!stop.aborted) await once(stop, "abort");
  log("info", "stopping", { signal: stop.reason });
  await running.stop();
}

async function settingsOf(options: ScheduleOptions): Promise<Omit<InformerModeOptions, "log">> {
  const { kubeconfig, context, leaseNamespace, seed } = options;
  const loaded = await policyOf(options);
  return {
    schedulerName: options.schedulerName,
    source: kubeconfig === undefined ? { inCluster: true } : { kubeconfig, ...(context !== undefined && { context }) },
    ...(loaded && { loaded }),
    ignored: ignoredNeeds(options.ignore),
    percentage: options.percentageOfNodesToScore,
    random: seed === undefined ? Math.random : seededRandom(seed),
    listen: addressOf(options.listen),
    ...(leaseNamespace !== undefined && { leaseNamespace }),
  };
}

function ignoredNeeds(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.filter((name) => !IGNORABLE.includes(name));
  if (unknown.length === 0) return new Set(names);
  throw new CommandError(`--ignore knows ${IGNORABLE.join(", ")}, not ${unknown.join(", ")}`);
}

function addressOf(listen: string): { readonly host: string; readonly port: number } {
  const at = listen.lastIndexOf(":");
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(listen.slice(at + 1)) };
}

/** The policy of the files; nothing for the default plugins. */
async function policyOf({ config, facts, profile }: ScheduleOptions): Promise<Loaded | undefined> {
  if (config === undefined) {
    if (facts === undefined && profile === undefined) return undefined;
    throw new CommandError("--facts and --profile go with --config: without a policy the default plugins decide");
  }
  const fleet = facts === undefined ? noFacts() : await readChecked(facts, checkFacts);
  return chosenPolicy(await readChecked(config, checkConfiguration(registry)), fleet, profile);
}

async function readChecked<T>(file: string, check: Check<T>): Promise<T> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(error.code === "ENOENT" ? `${file}: there is no such file` : `${file}: ${error.code}`);
  });
  const checked = readDocument(text, file, check);
  if ("value" in checked) return checked.value;
  throw new CommandError(checked.faults.map(formatFault).join("\n"));
}

function dryLine(decision: DryDecision, output: "text" | "json"): string {
  if (output === "json") return JSON.stringify(decision);
  const { pod, node, score, fitting, reason } = decision;
  if (node === undefined) return `${pod} stays pending: ${reason}`;
  const why = score === undefined ? "" : ` (score ${Number(score.toFixed(2))}, of ${fitting} nodes that fit)`;
  return `${pod} → ${node}${why}`;
}
