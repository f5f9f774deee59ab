import { factToJson } from "../policy/fact-json.ts";
import { columnsOf, type Policy, type PolicyPlugin, viewsOf } from "../policy/policy.ts";
import { type Cycle, prepare, type Row } from "../policy/run.ts";
import { type Lookup, Unreadable, type View } from "../policy/view.ts";
import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import { EVALUATE_PROTOCOL } from "../protocol/release.ts";
import { ShapeError } from "../protocol/scan.ts";

/**
 * Answers a question in facts instead of objects: `{protocol, plugins?, explain?, pod: {<view>: fact}, nodes:
 * [{<view>: fact}]}` gives a row for each node, in order, and with `explain` what every plugin saw. A fact that the
 * asker could not read is `{unreadable: {field, problem}}`.
 *
 * @throws {ShapeError} for another protocol, an unknown plugin, a fact that is missing or not one
 * @throws {PluginError} when a plugin's own code fails
 */
export function evaluateFacts(policy: Policy, around: Lookup, question: JsonObject) {
  if (field(question, "protocol") !== EVALUATE_PROTOCOL) {
    throw new ShapeError(`protocol must be ${EVALUATE_PROTOCOL}: function and binder are more than a release apart`);
  }
  const asked = { ...policy, plugins: choosePlugins(policy, field(question, "plugins")) };
  const views = viewsOf(asked);
  const read = (of: "pod" | "node") => (facts: Json | undefined, place: string) =>
    factLookup(
      views.filter((view) => view.of === of),
      facts,
      place,
    );
  const cycle = prepare(asked, read("pod")(field(question, "pod"), "pod"), around);
  if ("unreadable" in cycle) throw new ShapeError(`plugin ${cycle.plugin}: ${cycle.unreadable}`);
  const nodes = listOf(field(question, "nodes")).map((facts, index) => read("node")(facts, `nodes[${index}]`));
  return {
    protocol: EVALUATE_PROTOCOL,
    profile: policy.profile,
    version: policy.version,
    columns: columnsOf(asked),
    rows: cycle.rows(nodes).map(rowToJson),
    ...(field(question, "explain") === true && { findings: findings(cycle, nodes) }),
  };
}

function choosePlugins(policy: Policy, names: Json | undefined): readonly PolicyPlugin[] {
  if (names === undefined || names === null) return policy.plugins;
  const chosen = listOf(names).map((name, index) => {
    const plugin = policy.plugins.find(({ spec }) => spec.name === name);
    if (plugin) return plugin;
    const known = policy.plugins.map(({ spec }) => spec.name).join(", ");
    throw new ShapeError(`plugins[${index}] is not a plugin of profile ${policy.profile}; it has ${known}`);
  });
  // Or a short question could ask for any amount of work.
  if (new Set(chosen).size < chosen.length) throw new ShapeError("plugins names a plugin twice");
  return chosen;
}

function listOf(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value;
  throw new ShapeError("plugins and nodes must be arrays");
}

/** Checks all facts that will be read before any is used, so that a fault is told with its place. */
function factLookup(views: readonly View<unknown>[], facts: Json | undefined, place: string): Lookup {
  if (!isObject(facts)) throw new ShapeError(`${place} must be an object of facts by the names of their views`);
  const values = new Map<string, unknown>();
  for (const view of views) {
    const fact = field(facts, view.name);
    if (fact === undefined) throw new ShapeError(`${place} lacks the fact ${view.name}`);
    const checked = view.fact.safeParse(fact);
    const read = checked.success ? checked.data : unreadableOf(fact);
    if (read === undefined) throw new ShapeError(`${place}.${view.name} is not what this view reads`);
    values.set(view.name, read);
  }
  return <T>(view: View<T>) =>
    values.has(view.name) ? (values.get(view.name) as T) : new Unreadable(view.name, "cannot be asked about from here");
}

function unreadableOf(fact: Json): Unreadable | undefined {
  const { field: place, problem } = Object(field(fact, "unreadable"));
  return typeof place === "string" && typeof problem === "string" ? new Unreadable(place, problem) : undefined;
}

function rowToJson(row: Row) {
  if ("scores" in row) return { scores: row.scores.map((score) => score ?? null) };
  const { plugin, reason, unresolvable } = row.refusal;
  return { refusal: { plugin, reason, unresolvable } };
}

function findings(cycle: Cycle, nodes: readonly Lookup[]) {
  return cycle.explain(nodes).map((node) => node.map((finding) => ({ ...finding, facts: factToJson(finding.facts) })));
}
