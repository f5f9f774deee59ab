import { readFile } from "node:fs/promises";
import { type Configuration, checkConfiguration } from "../policy/configuration.ts";
import { checkFacts, type FleetFacts } from "../policy/facts.ts";
import type { Check } from "../policy/faults.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import { formatFault, readDocument } from "../policy/source.ts";

/** The two files of a policy. */
export interface PolicyFiles {
  readonly configFile: string;
  readonly factsFile: string;
}

/** A policy file that is missing or has faults. The message has a line for each fault, with file, line and column. */
export class PolicyFilesError extends Error {}

/** Both files, checked. */
export interface PolicyDocuments {
  readonly configuration: Configuration;
  readonly facts: FleetFacts;
}

/**
 * Reads berth.yaml and facts.json and checks both.
 *
 * @throws {PolicyFilesError} with every fault of both files
 */
export async function readPolicyFiles(files: PolicyFiles, plugins: readonly AnyPlugin[]): Promise<PolicyDocuments> {
  return policyFilesReader(files, plugins)();
}

/**
 * Reads the files again and again: gives the very same documents as long as their texts are the same.
 *
 * @param elsewhere profiles that come from somewhere else, which callers may be given too
 * @returns a reader that rejects with a {@link PolicyFilesError} with every fault of both files
 */
export function policyFilesReader(
  files: PolicyFiles,
  plugins: readonly AnyPlugin[],
  elsewhere: readonly string[] = [],
): () => Promise<PolicyDocuments> {
  let last: { readonly key: string; readonly documents: PolicyDocuments } | undefined;
  return async () => {
    const texts = await Promise.all([readText(files.configFile), readText(files.factsFile)]);
    const key = JSON.stringify(texts);
    if (last?.key !== key) last = { key, documents: check(files, texts, checkConfiguration(plugins, elsewhere)) };
    return last.documents;
  };
}

type Read = { readonly text: string } | { readonly problem: string };

function check(
  { configFile, factsFile }: PolicyFiles,
  texts: readonly Read[],
  checked: Check<Configuration>,
): PolicyDocuments {
  const missing = texts.flatMap((text) => ("problem" in text ? [text.problem] : []));
  const [config, fleet] = texts.map((text) => ("text" in text ? text.text : undefined));
  const configuration = config === undefined ? { faults: [] } : readDocument(config, configFile, checked);
  const facts = fleet === undefined ? { faults: [] } : readDocument(fleet, factsFile, checkFacts);
  if ("value" in configuration && "value" in facts) return { configuration: configuration.value, facts: facts.value };
  const faults = [configuration, facts].flatMap((each) => ("faults" in each ? each.faults : []));
  throw new PolicyFilesError([...missing, ...faults.map(formatFault)].join("\n"));
}

async function readText(file: string): Promise<Read> {
  try {
    return { text: await readFile(file, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return { problem: `${file}: there is no such file` };
    return { problem: `${file}: ${code === "EISDIR" ? "is a folder, not a file" : `cannot be read (${code})`}` };
  }
}
