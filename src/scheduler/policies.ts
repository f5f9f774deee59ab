import { type Configuration, checkConfiguration } from "../policy/configuration.ts";
import { checkFacts, type FleetFacts } from "../policy/facts.ts";
import type { Policy } from "../policy/policy.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";

/** What to decide by. */
export interface Loaded {
  readonly policy: Policy;
  readonly facts: FleetFacts;
}

/** The profile of a scheduler that was given none. */
export const DEFAULT_PROFILE = "default-plugins";

/**
 * kube-scheduler's default plugins, of those that exist here, with their weights (pkg/scheduler/apis/config/v1/
 * default_plugins.go, v1.37.2). GpuMemory comes first where devices can be given.
 */
export const DEFAULT_PLUGINS: readonly { readonly name: string; readonly weight?: number }[] = [
  { name: "NodeName" },
  { name: "NodeUnschedulable" },
  { name: "TaintToleration", weight: 3 },
  { name: "NodeAffinity", weight: 2 },
  { name: "NodePorts" },
  { name: "NodeResourcesFit", weight: 1 },
  { name: "NodeResourcesBalancedAllocation", weight: 1 },
];

/** @param withDevices whether ledgers can be kept in this cluster */
export async function defaultPolicy(withDevices: boolean): Promise<Loaded> {
  const gpu = { name: "GpuMemory", args: { whenUnknown: "reject" } };
  const plugins = withDevices ? [...DEFAULT_PLUGINS, gpu] : DEFAULT_PLUGINS;
  const checked = checkConfiguration(registry)({
    apiVersion: "berth.dev/v1alpha1",
    kind: "PolicyConfiguration",
    profiles: [{ name: DEFAULT_PROFILE, plugins }],
  });
  if ("faults" in checked) throw new Error(`the built-in profile: ${checked.faults[0]?.message}`);
  return chosenPolicy(checked.value, noFacts(), undefined);
}

/**
 * The policy of one profile of berth.yaml.
 *
 * @param profile absent: the only one
 * @throws an error whose message is for people, when the profile is not there or has to be named
 */
export async function chosenPolicy(
  configuration: Configuration,
  facts: FleetFacts,
  profile: string | undefined,
): Promise<Loaded> {
  const { policies } = await loadPolicies(configuration, facts, registry);
  const names = [...policies.keys()].join(", ");
  if (profile === undefined && policies.size > 1) {
    throw new Error(`Which profile? The configuration has ${names}: choose one with --profile.`);
  }
  const policy = profile === undefined ? [...policies.values()][0] : policies.get(profile);
  if (policy === undefined) throw new Error(`The configuration has no profile ${profile}: it has ${names}.`);
  return { policy, facts };
}

/** Facts of the fleet for a scheduler that has none. */
export function noFacts(): FleetFacts {
  const checked = checkFacts({ apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" });
  if ("faults" in checked) throw new Error(`empty facts: ${checked.faults[0]?.message}`);
  return checked.value;
}
