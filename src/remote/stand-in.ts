import * as z from "zod";
import type { AnyPlugin, Maturity, Scale } from "../policy/plugin.ts";
import type { PolicyPlugin, WhenAway } from "../policy/policy.ts";
import type { View, Views } from "../policy/view.ts";
import { viewByName } from "../policy/view-table.ts";

/** A plugin as `GET /<profile>` tells it. */
export interface DescribedPlugin {
  readonly name: string;
  readonly version: number;
  readonly maturity?: Maturity | undefined;
  readonly doc?: string | undefined;
  /** It has to be decided where its facts live, so nobody can be asked about it. */
  readonly near: boolean;
  /** Present exactly when the plugin scores. */
  readonly scale?: Scale | undefined;
  readonly weight?: number | undefined;
  readonly args: unknown;
  readonly whenAway?: WhenAway | undefined;
  readonly reads: {
    readonly pod: readonly Named[];
    readonly node: readonly Named[];
    readonly around: readonly Named[];
  };
}

interface Named {
  readonly name: string;
}

/** A plugin of a policy whose code is somewhere else: it knows what to read, and nothing to say of it by itself. */
export interface StandIn extends PolicyPlugin {
  readonly standIn: true;
}

/** Tells plugins whose code is somewhere else from those that are here. */
export function isStandIn(plugin: PolicyPlugin): plugin is StandIn {
  return "standIn" in plugin;
}

/**
 * Stands in for a plugin whose code this process lacks, so that it can be asked about where the code is. Answers with a
 * problem, a sentence for people, when it cannot be asked about from here.
 */
export function standIn(plugin: DescribedPlugin): StandIn | { readonly problem: string } {
  const { name, version, maturity = "alpha", doc = "", near, scale, weight = 0, args, whenAway, reads } = plugin;
  if (near) return { problem: `plugin ${name}, version ${version}, has to be decided here, and this release lacks it` };
  const [pod, node] = [viewsOf(reads.pod), viewsOf(reads.node)];
  const missing = "missing" in pod ? pod.missing : "missing" in node ? node.missing : undefined;
  if ("missing" in pod || "missing" in node) {
    return { problem: `plugin ${name} reads ${missing}, which this release cannot read` };
  }
  const views = { pod: pod.views, node: node.views, around: {} };
  const spec: AnyPlugin = {
    name,
    version,
    maturity,
    doc,
    args: z.unknown(),
    ...(scale !== undefined && { scale }),
    reads: () => views,
    prepare: () => ({}),
  };
  return { standIn: true, spec, weight, args, views, ...(whenAway && { whenAway }) };
}

function viewsOf(named: readonly Named[]): { readonly views: Views } | { readonly missing: string } {
  const views: Record<string, View<unknown>> = {};
  for (const { name } of named) {
    const view = viewByName(name);
    if (view?.read === undefined) return { missing: name };
    views[name] = view;
  }
  return { views };
}
