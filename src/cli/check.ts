import { text } from "node:stream/consumers";
import { parseAllDocuments } from "yaml";
import { field, isObject, type JsonObject } from "../protocol/json.ts";
import { check, type Known } from "./check/check.ts";
import { exitCode, reportJson, reportSummary, reportTable } from "./check/report.ts";
import { CommandError } from "./command-error.ts";
import { entries } from "./kube-scheduler/extender.ts";
import { parseGates } from "./kube-scheduler/feature-gates.ts";
import { parseMinor } from "./kube-scheduler/versions.ts";
import { readText } from "./read-text.ts";
import { createScreen } from "./screen.ts";

/** Options of `berth check`. */
export interface CheckOptions {
  readonly output: "table" | "json";
  readonly kubernetesVersion?: string;
  readonly featureGates?: string;
  /** A file of nodes, as `kubectl get nodes -o json` writes it. */
  readonly nodes?: string;
}

/**
 * Checks a file, or standard input for `-`, and prints what was found. Sets the exit code: 0 nothing or notes, 3
 * warnings, 2 errors.
 *
 * @throws {CommandError} when a file cannot be read or an option is not usable: exit code 1
 */
export async function checkFile(file: string, options: CheckOptions): Promise<void> {
  const source = file === "-" ? await text(process.stdin) : await readText(file);
  const report = check(source, await known(options));
  const screen = createScreen(process.stdout, process.stderr);
  const name = file === "-" ? "standard input" : file;
  if (options.output === "json") screen.print(reportJson(name, report));
  else {
    if (report.findings.length > 0) screen.print(reportTable(report, screen));
    screen.print(reportSummary(name, report));
  }
  process.exitCode = exitCode(report);
}

async function known({ kubernetesVersion, featureGates, nodes }: CheckOptions): Promise<Known> {
  const minor = kubernetesVersion === undefined ? undefined : parseMinor(kubernetesVersion);
  if (kubernetesVersion !== undefined && minor === undefined) {
    throw new CommandError(`--kubernetes-version ${kubernetesVersion}: write it as 1.37 or v1.37.2`);
  }
  const advertised = nodes === undefined ? undefined : resourcesOf(await readText(nodes));
  return {
    ...(minor !== undefined && { minor }),
    ...(featureGates !== undefined && { gates: parseGates(featureGates) }),
    ...(advertised && { advertised }),
  };
}

/** The names of all resources in `status.allocatable` and `status.capacity` of nodes. */
function resourcesOf(source: string): Set<string> {
  const documents = parseAllDocuments(source, { logLevel: "silent", prettyErrors: false });
  const values: unknown[] = Array.isArray(documents) ? documents.map((document) => document.toJS()) : [];
  const nodes = values.flatMap((value): JsonObject[] => {
    const items = entries(field(value, "items"));
    return items.length > 0 ? items : isObject(value) ? [value] : [];
  });
  const lists = nodes.flatMap(({ status }) => [field(status, "allocatable"), field(status, "capacity")]);
  return new Set(lists.flatMap((list) => Object.keys(isObject(list) ? list : {})));
}
