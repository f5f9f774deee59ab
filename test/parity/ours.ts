import { createNodeUsage, podUsage } from "../../src/placement/node-usage.ts";
import type { AnyPlugin, Judge, RawScore } from "../../src/policy/plugin.ts";
import { scaleScores } from "../../src/policy/rank.ts";
import { registry } from "../../src/policy/registry.ts";
import { type Lookup, Unreadable, type View, type Views } from "../../src/policy/view.ts";
import { nodeUsage } from "../../src/policy/views/node-usage.ts";
import { field, type JsonObject } from "../../src/protocol/json.ts";
import type { PluginJudgement, PluginQuestion } from "../controlplane/plugins.ts";

/** The plugins that kube-scheduler has too, in the order of its default profile. */
export const SHARED_PLUGINS = [
  "NodeName",
  "NodeUnschedulable",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "NodeResourcesBalancedAllocation",
] as const;

/** The plugin of a name. */
export function pluginNamed(name: string): AnyPlugin {
  const plugin = registry.find((each) => each.name === name);
  if (!plugin) throw new Error(`there is no plugin ${name}`);
  return plugin;
}

/** Judges as the Go program does, by our plugins. */
export function weJudge(question: PluginQuestion): Record<string, PluginJudgement> {
  const nodes = question.nodes.map((node) => ({ name: nameOf(node), lookup: nodeLookup(node, question.pods) }));
  const seats = SHARED_PLUGINS.map((name) => seat(name, question));
  const refusals = seats.map((each) => refusalsOf(each, nodes));
  const feasible = nodes.filter(({ name }) => refusals.every((refused) => refused[name] === undefined));
  return Object.fromEntries(
    seats.map((each, index) => [
      each.spec.name,
      { refusals: refusals[index] ?? {}, ...scoresOf(each, nodes, feasible) },
    ]),
  );
}

interface Seat {
  readonly spec: AnyPlugin;
  readonly judge: Judge<unknown>;
  readonly views: Views;
}

interface Node {
  readonly name: string;
  readonly lookup: Lookup;
}

function seat(name: string, question: PluginQuestion): Seat {
  const spec = pluginNamed(name);
  const args = spec.args.parse(question.args?.[name] ?? {});
  const { pod = {}, node = {} } = spec.reads(args, {} as never);
  return { spec, views: node, judge: spec.prepare(args, gather(pod, objectLookup(question.pod)), {}) };
}

function refusalsOf({ judge, views }: Seat, nodes: readonly Node[]): PluginJudgement["refusals"] {
  const refused: Record<string, { reasons: readonly string[]; unresolvable: boolean }> = {};
  for (const { name, lookup } of nodes) {
    const verdict = judge.filter?.(gather(views, lookup));
    if (verdict) {
      refused[name] = {
        reasons: [...(verdict.reasons ?? [verdict.reason])].sort(),
        unresolvable: verdict.unresolvable,
      };
    }
  }
  return refused;
}

function scoresOf({ spec, judge, views }: Seat, nodes: readonly Node[], feasible: readonly Node[]) {
  const { score } = judge;
  if (!spec.scale || !score) return { raw: null, normalized: null };
  const rawOf = (some: readonly Node[]): RawScore[] => some.map(({ lookup }) => score(gather(views, lookup)));
  const byName = (some: readonly Node[], scores: readonly RawScore[]) =>
    Object.fromEntries(some.map(({ name }, index) => [name, scores[index] ?? Number.NaN]));
  return {
    raw: byName(nodes, rawOf(nodes)),
    normalized: byName(feasible, scaleScores(spec.scale, rawOf(feasible))),
  };
}

function gather(views: Views, lookup: Lookup): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  for (const [key, view] of Object.entries(views)) {
    const value = lookup(view);
    if (value instanceof Unreadable) throw new Error(`${view.name} cannot be read: ${value}`);
    facts[key] = value;
  }
  return facts;
}

function nodeLookup(node: JsonObject, pods: readonly JsonObject[]): Lookup {
  const usage = createNodeUsage();
  for (const pod of pods) if (field(field(pod, "spec"), "nodeName") === nameOf(node)) usage.add(podUsage(pod));
  const read = objectLookup(node);
  return <T>(view: View<T>) => (view.name === nodeUsage.name ? (usage as T) : read(view));
}

function objectLookup(object: JsonObject): Lookup {
  return <T>(view: View<T>) => (view.read as NonNullable<View<T>["read"]>)(object, 0);
}

function nameOf(node: JsonObject): string {
  return String(field(field(node, "metadata"), "name"));
}
