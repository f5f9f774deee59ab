import { type Check, checkSchema } from "../policy/faults.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import type { Policy, PolicyPlugin } from "../policy/policy.ts";
import { registry } from "../policy/registry.ts";
import { type Fault, readDocument } from "../policy/source.ts";
import { policyVersion } from "../policy/version.ts";
import { field } from "../protocol/json.ts";
import {
  DEFAULT_PREDICATES,
  DEFAULT_PRIORITIES,
  FILTER_ORDER,
  MANDATORY_PREDICATES,
  PREDICATES,
  PRIORITIES,
} from "./legacy-names.ts";
import { noFacts } from "./policies.ts";
import { asSpelled, withKnownKeys } from "./policy-keys.ts";
import { crossFaults, type ExtenderSettings, type LegacyPolicy, policySchema } from "./policy-schema.ts";

/** What an old Policy file says. */
export interface PolicyFile {
  readonly policy: Policy;
  readonly extenders: readonly ExtenderSettings[];
}

/** The name of the profile that a Policy file makes. */
const PROFILE = "policy-file";

/**
 * Reads a Policy file of kube-scheduler up to 1.22, JSON or YAML, by itself or in a ConfigMap as `policy.cfg`. Its
 * predicates filter and its priorities score, each by itself as they did then, with the plugins that have taken their
 * place. What a file leaves out is what kube-scheduler took for it, of what exists here.
 *
 * @returns the policy, or every fault of the file with its line
 */
export async function readPolicyFile(
  text: string,
  file: string,
): Promise<{ readonly value: PolicyFile } | { readonly faults: readonly Fault[] }> {
  const inner = configMapEntry(text, file);
  const checked =
    inner === undefined ? readDocument(text, file, check) : readDocument(inner, `${file} policy.cfg`, check);
  if ("faults" in checked) return checked;
  const extenders = checked.value.extenders ?? [];
  const plugins = seats(checked.value, extenders);
  const version = await policyVersion({
    profile: checked.value,
    facts: {},
    plugins: plugins.map(({ spec }) => spec.version),
  });
  return { value: { policy: { profile: PROFILE, version, plugins }, extenders } };
}

const check: Check<LegacyPolicy> = (data) => {
  const known = withKnownKeys(data);
  const checked = checkSchema(policySchema)(known);
  const faults = [...("faults" in checked ? checked.faults : []), ...crossFaults(known)];
  if ("value" in checked && faults.length === 0) return checked;
  return { faults: faults.map((fault) => asSpelled(data, fault)) };
};

/** The text of a ConfigMap's `policy.cfg`; undefined for a file that is none. */
function configMapEntry(text: string, file: string): string | undefined {
  const document = readDocument(text, file, (value) => ({ value }));
  if ("faults" in document || field(document.value, "kind") !== "ConfigMap") return undefined;
  const entry = field(field(document.value, "data"), "policy.cfg");
  return typeof entry === "string" ? entry : undefined;
}

function seats({ predicates, priorities }: LegacyPolicy, extenders: readonly ExtenderSettings[]): PolicyPlugin[] {
  const asked = [...MANDATORY_PREDICATES, ...(predicates?.map(({ name }) => name) ?? DEFAULT_PREDICATES)];
  const filters = new Set(asked.flatMap((name) => PREDICATES[name]?.plugins ?? []));
  const scored = priorities ?? DEFAULT_PRIORITIES.map((name) => ({ name, weight: 1 }));
  return [
    ...FILTER_ORDER.filter((name) => filters.has(name)).map((name) => filterSeat(name, extenders)),
    ...scored.map(({ name, weight }) => scoreSeat(name, weight)),
  ];
}

function filterSeat(name: string, extenders: readonly ExtenderSettings[]): PolicyPlugin {
  const { scale: _, ...spec } = pluginNamed(name);
  const args = name === "NodeResourcesFit" ? { ignoredResources: ignoredResources(extenders) } : {};
  const prepare: AnyPlugin["prepare"] = (...given) => {
    const { filter } = spec.prepare(...given);
    return filter ? { filter } : {};
  };
  return seat({ ...spec, prepare }, args, 0);
}

/** Resources that an extender manages alone. */
function ignoredResources(extenders: readonly ExtenderSettings[]): string[] {
  const managed = extenders.flatMap(({ managedResources }) => managedResources);
  return managed.flatMap(({ name, ignoredByScheduler }) => (ignoredByScheduler ? [name] : []));
}

function scoreSeat(name: string, weight: number): PolicyPlugin {
  const priority = PRIORITIES[name];
  if (!priority) throw new Error(`priority ${name} passed the schema of another table`);
  const spec = pluginNamed(priority.plugin);
  const prepare: AnyPlugin["prepare"] = (...given) => {
    const { score, scoreAll } = spec.prepare(...given);
    return { ...(score && { score }), ...(scoreAll && { scoreAll }) };
  };
  return seat({ ...spec, prepare }, priority.args ?? {}, weight);
}

function seat(spec: AnyPlugin, given: unknown, weight: number): PolicyPlugin {
  const args = spec.args.parse(given);
  const { pod = {}, node = {}, around = {} } = spec.reads(args, noFacts());
  return { spec, weight, args, views: { pod, node, around } };
}

function pluginNamed(name: string): AnyPlugin {
  const plugin = registry.find((each) => each.name === name);
  if (!plugin) throw new Error(`there is no plugin ${name}`);
  return plugin;
}
