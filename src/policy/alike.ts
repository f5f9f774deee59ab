import * as z from "zod";
import type { JsonObject } from "../protocol/json.ts";
import { eachOnce } from "./each-once.ts";
import { factToJson } from "./fact-json.ts";
import type { AnyPlugin, Judge } from "./plugin.ts";
import { isNear, type Policy, type PolicyPlugin, viewsOf } from "./policy.ts";
import { Unreadable, type View, type Views } from "./view.ts";

/** Nodes that are alike in what one plugin reads of them. */
interface Kind {
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Kinds come and go with their nodes; forgetting them costs no more than a few judgements. */
const MOST_KINDS = 10_000;

/**
 * The same policy for a host whose node objects are never changed, as those of a followed cluster are not: facts of a
 * node are read once, and nodes that are alike in what a plugin reads are judged once for each pod. A thousand nodes are
 * a few dozen kinds. Plugins that read fast facts or compare nodes stay as they are, and so do those that `apart` picks.
 */
export function judgingAlike(policy: Policy, apart: (plugin: PolicyPlugin) => boolean = () => false): Policy {
  const plugins = policy.plugins.map((plugin) => (apart(plugin) || !canBe(plugin) ? plugin : alike(plugin)));
  return { ...policy, plugins };
}

/**
 * Tells nodes apart by everything that a policy reads of them, as texts: nodes with the same text are judged alike by
 * every plugin that does not compare nodes, whatever the pod. No text for a node that cannot be read.
 *
 * @param beside a view that the host answers itself: the text leaves it out
 * @returns undefined for a policy that reads further fast facts; each of its nodes is to be judged by itself
 */
export function kindTexts(
  policy: Policy,
  beside: View<unknown>,
): ((node: JsonObject) => string | undefined) | undefined {
  const views = viewsOf(policy).filter(({ of, name }) => of === "node" && name !== beside.name);
  if (views.some(({ pace, read }) => pace === "fast" || read === undefined)) return undefined;
  return (node) => {
    const facts = readAll(Object.fromEntries(views.entries()), node);
    return facts instanceof Unreadable ? undefined : textOf(facts);
  };
}

function textOf(facts: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(factToJson(facts));
}

function canBe(plugin: PolicyPlugin): boolean {
  return !isNear(plugin) && Object.values(plugin.views.node).every((view) => view.read !== undefined);
}

function alike(plugin: PolicyPlugin): PolicyPlugin {
  const { spec, views } = plugin;
  const kind = kindView(views.node);
  const prepare: AnyPlugin["prepare"] = (args, pod, around) => judgeKinds(spec.prepare(args, pod, around));
  return { ...plugin, spec: { ...spec, prepare }, views: { ...views, node: { kind } } };
}

type OfKind = { readonly kind: Kind };

function judgeKinds(judge: Judge<unknown>): Judge<OfKind> {
  const { filter, score, scoreAll } = judge;
  return {
    ...(filter && { filter: once((facts) => filter.call(judge, facts)) }),
    ...(score && { score: once((facts) => score.call(judge, facts)) }),
    ...(scoreAll && {
      scoreAll: (nodes) =>
        scoreAll.call(
          judge,
          nodes.map((node) => node.kind.facts),
        ),
    }),
  };
}

function once<T>(ask: (facts: unknown) => T): (node: OfKind) => T {
  const ofKind = eachOnce(({ facts }: Kind) => ask(facts));
  return ({ kind }) => ofKind(kind);
}

function kindView(views: Views): View<Kind> {
  const byNode = new WeakMap<JsonObject, Kind | Unreadable>();
  const byFacts = new Map<string, Kind>();
  const kindOf = (node: JsonObject): Kind | Unreadable => {
    const facts = readAll(views, node);
    if (facts instanceof Unreadable) return facts;
    const text = textOf(facts);
    const kind = byFacts.get(text) ?? { facts };
    if (byFacts.size >= MOST_KINDS) byFacts.clear();
    byFacts.set(text, kind);
    return kind;
  };
  return {
    name: "kind",
    of: "node",
    pace: "slow",
    doc: "What one plugin reads of the node.",
    paths: [...new Set(Object.values(views).flatMap(({ paths }) => paths))],
    fact: NOT_ON_THE_WIRE,
    read: (node) => {
      const kind = byNode.get(node) ?? kindOf(node);
      byNode.set(node, kind);
      return kind;
    },
  };
}

/** Kinds are made where they are used and go nowhere. */
const NOT_ON_THE_WIRE = z.custom<Kind>();

function readAll(views: Views, node: JsonObject): Readonly<Record<string, unknown>> | Unreadable {
  const facts: Record<string, unknown> = {};
  for (const [key, view] of Object.entries(views)) {
    // Slow views read no clock.
    const fact = view.read?.(node, 0);
    if (fact instanceof Unreadable) return fact;
    facts[key] = fact;
  }
  return facts;
}
