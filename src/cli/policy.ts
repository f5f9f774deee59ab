import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { PolicyFilesError, readPolicyFiles } from "../adapters/policy-files.ts";
import { loadPolicies } from "../policy/profile.ts";
import { loadPlugins } from "./plugins.ts";

/** The files of a policy, as options of a command. */
export interface PolicyOptions {
  readonly config: string;
  readonly facts: string;
  /** A file of plugins in place of Berth's own list. */
  readonly plugins?: string;
}

/**
 * The environment variable under which {@link compilePolicy} keeps the policy it wrote last when the files have
 * faults. `berth dev` sets it: wrangler's dev server answers nothing while its build command fails.
 */
export const KEEP_POLICY = "BERTH_KEEP_POLICY";

/**
 * Says which profiles the files give, or reports their faults.
 *
 * @throws {PolicyFilesError} with every fault of both files
 */
export async function checkPolicy(options: PolicyOptions): Promise<void> {
  const { configuration, facts } = await read(options);
  const { policies } = await loadPolicies(configuration, facts, await loadPlugins(options.plugins));
  for (const { profile, version } of policies.values()) process.stdout.write(`${profile}@${version}\n`);
}

/**
 * Checks the files and writes them as data for the Worker's bundle: a fault stops a deploy before anything ships.
 *
 * @throws {PolicyFilesError} with every fault of both files; nothing is written then
 */
export async function compilePolicy(options: PolicyOptions & { readonly out: string }): Promise<void> {
  try {
    const compiled = JSON.stringify(await read(options));
    await mkdir(dirname(options.out), { recursive: true });
    // Replaced in one step: a bundler that watches must never read half a file.
    await writeFile(`${options.out}.${process.pid}`, compiled);
    await rename(`${options.out}.${process.pid}`, options.out);
  } catch (error) {
    const kept = process.env[KEEP_POLICY] === "1" && existsSync(options.out);
    if (!(error instanceof PolicyFilesError)) throw error;
    if (!kept) throw new PolicyFilesError(`the policy has faults, nothing was built:\n${error.message}`);
  }
}

async function read({ config, facts, plugins }: PolicyOptions) {
  return readPolicyFiles({ configFile: config, factsFile: facts }, await loadPlugins(plugins));
}
