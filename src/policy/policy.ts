import type { AnyPlugin } from "./plugin.ts";
import type { Column } from "./rank.ts";
import type { View, Views } from "./view.ts";

/** A plugin as one profile uses it: its arguments checked, its views resolved. */
export interface PolicyPlugin {
  readonly spec: AnyPlugin;
  readonly weight: number;
  readonly args: unknown;
  readonly views: { readonly pod: Views; readonly node: Views; readonly around: Views };
  /** What becomes of the plugin where its code lives in a function that does not answer; default `skip`. */
  readonly whenAway?: WhenAway;
}

/** `skip`: as if the plugin were not there. `reject`: pods wait until the function is back. */
export type WhenAway = "skip" | "reject";

/** One profile, ready to decide. */
export interface Policy {
  readonly profile: string;
  /** Hash of profile, facts and release: equal versions decide alike. */
  readonly version: string;
  readonly plugins: readonly PolicyPlugin[];
}

/** The scoring plugins of a policy as ranking data, in the order of a row's scores. */
export function columnsOf(policy: Policy): Column[] {
  return policy.plugins.flatMap(({ spec, weight }) =>
    spec.scale === undefined ? [] : [{ plugin: spec.name, weight, scale: spec.scale }],
  );
}

/** Every view that a policy's plugins read, each once. */
export function viewsOf(policy: Policy): View<unknown>[] {
  return [...new Set(policy.plugins.flatMap(viewsOfPlugin))];
}

/**
 * True for a plugin that has to be decided where its facts live: it reads a fast or cluster view, or compares
 * nodes. The others are far: their rows may be remembered and may travel.
 */
export function isNear(plugin: PolicyPlugin): boolean {
  return (
    plugin.spec.scale === "list" || viewsOfPlugin(plugin).some((view) => view.pace === "fast" || view.of === "cluster")
  );
}

/** Paths of the node objects that a policy looks at, for a reader that parses nothing else. */
export function nodePaths(policy: Policy): string[] {
  const paths = viewsOf(policy).flatMap((view) => (view.of === "node" ? view.paths : []));
  return [...new Set(paths)].sort();
}

function viewsOfPlugin({ views }: PolicyPlugin): View<unknown>[] {
  return [views.pod, views.node, views.around].flatMap((part) => Object.values(part));
}
