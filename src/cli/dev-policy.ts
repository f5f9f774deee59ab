import { readPolicyFiles } from "../adapters/policy-files.ts";
import type { Policy } from "../policy/policy.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import { DevError } from "./dev-error.ts";

/** The files that `berth dev` works on, those that wrangler.toml builds from. */
export const POLICY_FILES = { configFile: "berth.yaml", factsFile: "facts.json" } as const;

/**
 * Reads both files and picks the profile to show.
 *
 * @param profile the first of the file when not given
 * @throws {PolicyFilesError} with every fault of both files
 * @throws {DevError} for a profile that is not there
 */
export async function readDevPolicy(profile: string | undefined): Promise<Policy> {
  const { configuration, facts } = await readPolicyFiles(POLICY_FILES, registry);
  const { policies } = await loadPolicies(configuration, facts, registry);
  const names = [...policies.keys()];
  const policy = policies.get(profile ?? names[0] ?? "");
  if (!policy) throw new DevError(`${POLICY_FILES.configFile} has no profile ${profile}: it has ${names.join(", ")}`);
  return policy;
}

/** `<profile>@<version>`, as the function's answers and log lines carry it. */
export function policyName({ profile, version }: Policy): string {
  return `${profile}@${version}`;
}
