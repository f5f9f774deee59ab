import { readFile } from "node:fs/promises";
import { type Configuration, checkConfiguration } from "../policy/configuration.ts";
import { checkFacts, type FleetFacts } from "../policy/facts.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import { formatFault, readDocument } from "../policy/source.ts";

/** The two files of a policy. */
export interface PolicyFiles {
  readonly configFile: string;
  readonly factsFile: string;
}

/** A policy file that is missing or has faults. The message has a line for each fault, with file, line and column. */
export class PolicyFilesError extends Error {}

/**
 * Reads berth.yaml and facts.json and checks both.
 *
 * @throws {PolicyFilesError} with every fault of both files
 */
export async function readPolicyFiles(
  { configFile, factsFile }: PolicyFiles,
  plugins: readonly AnyPlugin[],
): Promise<{ configuration: Configuration; facts: FleetFacts }> {
  const texts = await Promise.all([readText(configFile), readText(factsFile)]);
  const missing = texts.flatMap((text) => ("problem" in text ? [text.problem] : []));
  const [config, fleet] = texts.map((text) => ("text" in text ? text.text : undefined));
  const configuration =
    config === undefined ? { faults: [] } : readDocument(config, configFile, checkConfiguration(plugins));
  const facts = fleet === undefined ? { faults: [] } : readDocument(fleet, factsFile, checkFacts);
  if ("value" in configuration && "value" in facts) return { configuration: configuration.value, facts: facts.value };
  const faults = [configuration, facts].flatMap((checked) => ("faults" in checked ? checked.faults : []));
  throw new PolicyFilesError([...missing, ...faults.map(formatFault)].join("\n"));
}

async function readText(file: string): Promise<{ text: string } | { problem: string }> {
  try {
    return { text: await readFile(file, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return { problem: code === "ENOENT" ? `${file}: there is no such file` : `${file}: cannot be read (${code})` };
  }
}
