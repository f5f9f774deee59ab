import { checkConfiguration } from "./configuration.ts";
import { checkFacts } from "./facts.ts";
import { formatPath } from "./faults.ts";
import type { AnyPlugin } from "./plugin.ts";
import { loadPolicies, type PolicySet } from "./profile.ts";

/** berth.yaml and facts.json as data, checked before they were bundled with a function. */
export interface CompiledPolicy {
  readonly configuration: unknown;
  readonly facts: unknown;
}

/**
 * Loads policies that were checked when the function was built.
 *
 * @throws {Error} naming every fault, when they were built for other plugins than these
 */
export async function loadCompiled(compiled: CompiledPolicy, plugins: readonly AnyPlugin[]): Promise<PolicySet> {
  const configuration = checkConfiguration(plugins)(compiled.configuration);
  const facts = checkFacts(compiled.facts);
  if ("value" in configuration && "value" in facts) return loadPolicies(configuration.value, facts.value, plugins);
  const faults = [configuration, facts].flatMap((checked) => ("faults" in checked ? checked.faults : []));
  throw new Error(
    `the bundled policy does not fit: ${faults.map((f) => `${formatPath(f.path)} ${f.message}`).join("; ")}`,
  );
}
