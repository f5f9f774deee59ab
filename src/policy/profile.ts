import type { CallerConfiguration, Configuration } from "./configuration.ts";
import type { FleetFacts } from "./facts.ts";
import type { AnyPlugin } from "./plugin.ts";
import type { Policy, PolicyPlugin, WhenAway } from "./policy.ts";
import { policyVersion } from "./version.ts";

/** Everything a berth.yaml and a facts.json say together, ready to decide. */
export interface PolicySet {
  readonly policies: ReadonlyMap<string, Policy>;
  readonly callers: readonly CallerConfiguration[];
  readonly facts: FleetFacts;
}

/**
 * Turns checked documents into policies.
 *
 * @param configuration as `configurationSchema(plugins)` gives it, for the same table of plugins
 */
export async function loadPolicies(
  configuration: Configuration,
  facts: FleetFacts,
  plugins: readonly AnyPlugin[],
): Promise<PolicySet> {
  const policies = await Promise.all(
    configuration.profiles.map(async (profile): Promise<Policy> => {
      const bound = profile.plugins.map((entry) => bind(entry as Entry, plugins, facts));
      const versions = bound.map(({ spec }) => spec.version);
      const version = await policyVersion({ profile, facts, plugins: versions });
      return { profile: profile.name, version, plugins: bound };
    }),
  );
  return {
    policies: new Map(policies.map((policy) => [policy.profile, policy])),
    callers: configuration.callers,
    facts,
  };
}

/** A plugin's entry; only plugins that score have a weight. */
interface Entry {
  readonly name: string;
  readonly args: unknown;
  readonly weight?: number;
  readonly whenAway?: WhenAway;
}

function bind(entry: Entry, plugins: readonly AnyPlugin[], facts: FleetFacts): PolicyPlugin {
  const spec = plugins.find((plugin) => plugin.name === entry.name);
  if (!spec) throw new Error(`plugin ${entry.name} passed the schema of another table of plugins`);
  const { pod = {}, node = {}, around = {} } = spec.reads(entry.args, facts);
  const { weight = 0, args, whenAway } = entry;
  return { spec, weight, args, views: { pod, node, around }, ...(whenAway && { whenAway }) };
}
