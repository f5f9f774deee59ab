import { once } from "node:events";
import { readFunctionSettings } from "../binder/function-settings.ts";
import { jsonLines } from "../extender/log.ts";
import { checkConfiguration } from "../policy/configuration.ts";
import { checkFacts } from "../policy/facts.ts";
import type { Check } from "../policy/faults.ts";
import type { Log } from "../policy/log.ts";
import { registry } from "../policy/registry.ts";
import { formatFault, readDocument } from "../policy/source.ts";
import { decideOnly } from "../scheduler/dry.ts";
import { createExtended } from "../scheduler/extenders.ts";
import { IGNORABLE } from "../scheduler/needs.ts";
import type { DryDecision, FunctionSource, InformerModeOptions, RunningScheduler } from "../scheduler/options.ts";
import { chosenPolicy, noFacts } from "../scheduler/policies.ts";
import { readPolicyFile } from "../scheduler/policy-file.ts";
import { seededRandom } from "../scheduler/sampling.ts";
import { startScheduler } from "../scheduler/start.ts";
import { decideWatched, startWatching } from "../scheduler/watch.ts";
import { CommandError } from "./command-error.ts";
import { readText } from "./read-text.ts";
import { stopSignal } from "./stop-signal.ts";

/** The options of `berth schedule`, as commander gives them. */
export interface ScheduleOptions {
  readonly schedulerName: string;
  readonly mode: "informer" | "watch";
  readonly config?: string;
  readonly facts?: string;
  readonly profile?: string;
  readonly policyFile?: string;
  readonly function?: string;
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
  const settings = { ...settingsOf(options), ...(await policyOf(options, log)), log };
  if (options.mode === "watch" && (settings.extended ?? settings.function)) {
    throw new CommandError("--mode watch asks neither extenders nor a function: use --mode informer");
  }
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

function settingsOf(options: ScheduleOptions): Omit<InformerModeOptions, "log"> {
  const { kubeconfig, context, leaseNamespace, seed } = options;
  return {
    schedulerName: options.schedulerName,
    source: kubeconfig === undefined ? { inCluster: true } : { kubeconfig, ...(context !== undefined && { context }) },
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

/** The policy of the files, with the extenders of an old one; nothing for the default plugins. */
async function policyOf(
  options: ScheduleOptions,
  log: Log,
): Promise<Pick<InformerModeOptions, "loaded" | "extended" | "function">> {
  const { config, facts, profile, policyFile } = options;
  if (options.function !== undefined) return { function: await functionOf(options.function, profile) };
  if (policyFile !== undefined) return legacyPolicy(policyFile, log);
  if (config === undefined) {
    if (facts === undefined && profile === undefined) return {};
    throw new CommandError("--facts and --profile go with --config: without a policy the default plugins decide");
  }
  const fleet = facts === undefined ? noFacts() : await readChecked(facts, checkFacts);
  return { loaded: await chosenPolicy(await readChecked(config, checkConfiguration(registry)), fleet, profile) };
}

/** What else there is to say of a function stands in the environment, as for the binder. */
async function functionOf(url: string, profile = "default"): Promise<FunctionSource> {
  const own = { BERTH_FUNCTION_URL: url, BERTH_FUNCTION_PROFILES: profile };
  const read = readFunctionSettings({ ...process.env, ...own });
  if ("problems" in read) throw new CommandError(read.problems.join("\n"));
  if (read.value === undefined) throw new CommandError("--function needs the function's URL");
  const { caFile, ...settings } = read.value;
  return {
    ...settings,
    profile,
    ...(caFile !== undefined && { caPem: await readText(caFile, `BERTH_FUNCTION_CA ${caFile}`) }),
  };
}

async function legacyPolicy(file: string, log: Log): Promise<Pick<InformerModeOptions, "loaded" | "extended">> {
  const checked = await readPolicyFile(await readText(file), file);
  if ("faults" in checked) throw new CommandError(checked.faults.map(formatFault).join("\n"));
  const { policy, extenders } = checked.value;
  const loaded = { policy, facts: noFacts() };
  if (extenders.length === 0) return { loaded };
  return { loaded, extended: await createExtended(extenders, (message, fields) => log("warn", message, fields)) };
}

async function readChecked<T>(file: string, check: Check<T>): Promise<T> {
  const checked = readDocument(await readText(file), file, check);
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
