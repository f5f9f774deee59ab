import { checkConfiguration } from "../policy/configuration.ts";
import { checkFacts, type FleetFacts } from "../policy/facts.ts";
import type { Policy } from "../policy/policy.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";

/** The profile that answers where gpushare's scheduler extender would, and the first part of its paths. */
export const GPUSHARE_PROFILE = "gpushare-scheduler";

/** A profile that does what gpushare's scheduler extender does, for clusters that keep their scheduler's configuration. */
export async function gpusharePolicy(facts: FleetFacts): Promise<Policy> {
  // Its own name is reserved, so that no berth.yaml can define it.
  const profile = { name: "gpushare", plugins: [{ name: "GpuMemory", args: { whenUnknown: "reject" } }] };
  const checked = checkConfiguration(registry)({
    apiVersion: "berth.dev/v1alpha1",
    kind: "PolicyConfiguration",
    profiles: [profile],
  });
  if ("faults" in checked) throw new Error(`the built-in profile: ${checked.faults[0]?.message}`);
  const { policies } = await loadPolicies(checked.value, facts, registry);
  const policy = policies.get(profile.name);
  if (policy === undefined) throw new Error("the built-in profile is missing");
  return { ...policy, profile: GPUSHARE_PROFILE };
}

/** Facts of the fleet for a binder that has none. */
export function noFacts(): FleetFacts {
  const checked = checkFacts({ apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" });
  if ("faults" in checked) throw new Error(`empty facts: ${checked.faults[0]?.message}`);
  return checked.value;
}
