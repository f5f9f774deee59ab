import type { FleetFacts } from "../policy/facts.ts";
import { checkSchema, formatPath } from "../policy/faults.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import type { Policy, PolicyPlugin } from "../policy/policy.ts";
import type { DescribedPlugin, ProfileDocument } from "./document.ts";
import { standIn } from "./stand-in.ts";

/** A function's policy, ready to decide by here. */
export interface RelayedPolicy {
  /** With the function's version. Plugins that have to be asked about have their stand-ins in it, in their places. */
  readonly policy: Policy;
  readonly facts: FleetFacts;
  /** What the function said. */
  readonly document: ProfileDocument;
  /** The plugins that the function has to be asked about. */
  readonly away: readonly string[];
}

/** Why a policy cannot be decided by here, a sentence for people. */
export interface Unfit {
  readonly problem: string;
}

/**
 * Makes a policy of what a function says of a profile. A plugin that this program has in the same version is decided
 * here. Others are asked about at the function if they can be; if one has to be decided where the cluster is and is
 * not here, the whole policy is refused: going on without it would decide by another policy under the same name.
 *
 * @param plugins those that can be decided here
 */
export function relayedPolicy(document: ProfileDocument, plugins: readonly AnyPlugin[]): RelayedPolicy | Unfit {
  const { profile, version, facts } = document;
  const bound: PolicyPlugin[] = [];
  const away: string[] = [];
  for (const described of document.plugins) {
    const own = plugins.find(({ name }) => name === described.name);
    const here = own !== undefined && own.version === described.version;
    const plugin = here ? decideHere(described, own, facts) : askThere(described, own);
    if ("problem" in plugin) return { problem: `profile ${profile}, version ${version}: ${plugin.problem}` };
    if (!here) away.push(described.name);
    bound.push(plugin);
  }
  return { policy: { profile, version, plugins: bound }, facts, document, away };
}

function decideHere(described: DescribedPlugin, spec: AnyPlugin, facts: FleetFacts): PolicyPlugin | Unfit {
  const { name, weight, whenAway } = described;
  const args = checkSchema<unknown>(spec.args)(described.args ?? {});
  if ("faults" in args) {
    const [{ path, message } = { path: [], message: "" }] = args.faults;
    return {
      problem: `plugin ${name} has arguments that it does not take: ${formatPath(["args", ...path])} ${message}`,
    };
  }
  if ((spec.scale === undefined) !== (weight === undefined)) {
    return {
      problem: `plugin ${name} ${weight === undefined ? "scores and has no weight" : "does not score and has a weight"}`,
    };
  }
  const { pod = {}, node = {}, around = {} } = spec.reads(args.value, facts);
  const views = { pod, node, around };
  return { spec, weight: weight ?? 0, args: args.value, views, ...(whenAway && { whenAway }) };
}

function askThere(described: DescribedPlugin, own: AnyPlugin | undefined): PolicyPlugin | Unfit {
  if (!described.near) return standIn(described);
  const { name, version } = described;
  const here = own === undefined ? "this program does not have it" : `this program has version ${own.version}`;
  return {
    problem: `plugin ${name}, version ${version}, has to be decided in the cluster, and ${here}: update the one that is behind`,
  };
}
