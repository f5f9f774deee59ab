import * as z from "zod";
import type { RawScore, Rejection } from "../policy/plugin.ts";
import type { Policy, PolicyPlugin } from "../policy/policy.ts";
import type { View } from "../policy/view.ts";
import type { NodeClass, NodeClasses } from "./classes.ts";
import type { Asked } from "./question.ts";
import type { PodRows } from "./rows.ts";
import { isStandIn, type StandIn } from "./stand-in.ts";

/** What judges of one policy version share. */
export interface Judging {
  readonly policy: Policy;
  readonly asked: Asked;
  readonly classView: View<NodeClass>;
  /** A node was refused because the function is away: its pod will want to be woken. */
  rejected(): void;
}

/** Constant, for it becomes part of pods' events. Evicting pods would not bring the function back. */
const AWAY: Rejection = {
  reason: "node(s) could not be judged: the function that has the policy's plugin does not answer",
  unresolvable: true,
};

/** A node's class as a fact, so that judges find its row. */
export function classView(classes: NodeClasses): View<NodeClass> {
  return {
    name: "farClass",
    of: "node",
    pace: "slow",
    doc: "What the plugins that only a function has read of the node.",
    paths: [],
    fact: z.never(),
    read: classes.of,
  };
}

/** What is known of one pod. */
interface Known {
  readonly rows: PodRows;
  /** Some rows are not there: then a plugin that may be skipped says nothing of any node's score. */
  readonly incomplete: boolean;
  /** Why the function cannot judge the pod. */
  readonly refused?: string;
}

/** The policy with judges that know the rows in place of the code that it lacks. */
export function judging(scene: Judging, known: Known): Policy {
  const judged = (plugin: PolicyPlugin): PolicyPlugin => (isStandIn(plugin) ? withJudge(scene, plugin, known) : plugin);
  const plugins = scene.policy.plugins.map(judged);
  return { ...scene.policy, plugins: known.refused === undefined ? plugins : failing(plugins, known.refused) };
}

/** As where its code is, the plugin that failed is the one that throws; the first one where none is named. */
function failing(plugins: readonly PolicyPlugin[], refused: string): readonly PolicyPlugin[] {
  const named = (plugin: PolicyPlugin) => isStandIn(plugin) && refused.startsWith(failureOf(plugin));
  const failed = plugins.find(named) ?? plugins.find(isStandIn);
  const prepare = (): never => {
    const why = failed && named(failed) ? refused.slice(failureOf(failed).length) : `the function says: ${refused}`;
    throw new Error(why);
  };
  return plugins.map((plugin) => (plugin === failed ? { ...plugin, spec: { ...plugin.spec, prepare } } : plugin));
}

/** How the function's words begin: PluginError of policy/run.ts. */
function failureOf({ spec }: PolicyPlugin): string {
  return `plugin ${spec.name} failed: `;
}

/** What a judge is given: the views of the plugin, which say whether the node can be read at all, and the class. */
interface Judged {
  readonly farClass: NodeClass;
}

function withJudge(scene: Judging, plugin: StandIn, { rows, incomplete }: Known): PolicyPlugin {
  const { spec, views } = plugin;
  const column = scene.asked.columns.findIndex((each) => each.plugin === spec.name);
  const filter = (node: unknown): Rejection | undefined => {
    const { farClass } = node as Judged;
    const row = rows.get(farClass);
    if (row !== undefined) return "refusal" in row && row.refusal.plugin === spec.name ? row.refusal : undefined;
    if (plugin.whenAway !== "reject") return undefined;
    scene.rejected();
    return AWAY;
  };
  const score = (node: unknown): RawScore => {
    const { farClass } = node as Judged;
    const row = incomplete ? undefined : rows.get(farClass);
    return row && "scores" in row ? row.scores[column] : undefined;
  };
  return {
    ...plugin,
    views: { ...views, node: { ...views.node, farClass: scene.classView } },
    spec: { ...spec, prepare: () => ({ filter, score }) },
  };
}
