import { checkConfiguration } from "../policy/configuration.ts";
import { registry } from "../policy/registry.ts";
import type { JsonObject } from "../protocol/json.ts";
import { noFacts } from "./gpushare.ts";
import { type LivePolicies, livePolicies, type OwnPolicies, ownPolicies, type PolicyDocuments } from "./policies.ts";
import type { State } from "./state.ts";

/** Files with one profile, `main`, of these plugins. */
export function documents(...plugins: readonly JsonObject[]): PolicyDocuments {
  const checked = checkConfiguration(registry)({
    apiVersion: "berth.dev/v1alpha1",
    kind: "PolicyConfiguration",
    profiles: [{ name: "main", plugins }],
  });
  if ("faults" in checked) throw new Error(JSON.stringify(checked.faults));
  return { configuration: checked.value, facts: noFacts() };
}

/** The profile `main` that takes nodes with this label only; every node of a test's cluster lacks it. */
export async function requiring(label: string): Promise<OwnPolicies["profiles"]> {
  const { profiles } = await ownPolicies(documents({ name: "NodeLabel", args: { require: { [label]: [] } } }));
  return profiles;
}

/** The profile `main` that takes every node. */
export async function takingAll(): Promise<OwnPolicies["profiles"]> {
  const { profiles } = await ownPolicies(documents({ name: "NodeLabel" }));
  return profiles;
}

/** Joins policies with a test's cluster. */
export function live(profiles: OwnPolicies["profiles"], state: State): LivePolicies {
  return livePolicies(profiles, { state, now: () => 1_000 });
}
