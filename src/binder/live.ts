import type { Claim, PlacedNode } from "../placement/model.ts";
import { devicesOf, type Viewpoint } from "../placement/usage.ts";
import type { FleetFacts } from "../policy/facts.ts";
import { objectLookup } from "../policy/lookup.ts";
import { nodePaths, type Policy, viewsOf } from "../policy/policy.ts";
import type { Lookup, Unreadable, View } from "../policy/view.ts";
import { devices } from "../policy/views/devices.ts";
import type { State } from "./state.ts";

/** A policy with the cluster it is asked about. */
export interface LivePolicy {
  readonly policy: Policy;
  readonly facts: FleetFacts;
  readonly around: Lookup;
  readonly state: State;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A node's facts: its devices as they are held now, everything else as the node itself says. */
export function liveNode(
  { state, now }: LivePolicy,
  node: PlacedNode,
  viewpoint: Viewpoint,
  claims?: readonly Claim[],
): Lookup {
  const read = objectLookup(node.object, now());
  return <T>(view: View<T>): T | Unreadable =>
    view.name === devices.name ? ({ value: devicesOf(node, state.usage(node, viewpoint, claims)) } as T) : read(view);
}

/** The places of node objects that policies read; what the binder knows better itself is not among them. */
export function livePaths(policies: Iterable<Policy>): string[] {
  return [...policies].flatMap((policy) => {
    const own = viewsOf(policy).filter((view) => view.of === "node" && view.name !== devices.name);
    const paths = new Set(own.flatMap((view) => view.paths));
    return nodePaths(policy).filter((path) => paths.has(path));
  });
}

/** The first view that a policy reads and that nobody here can tell, in a sentence; undefined when there is none. */
export function livePolicyFault(policy: Policy): string | undefined {
  for (const plugin of policy.plugins) {
    const view = viewsOf({ ...policy, plugins: [plugin] }).find((each) => each.read === undefined);
    if (view) return `plugin ${plugin.spec.name} reads ${view.name}, which this binder does not watch`;
  }
  return undefined;
}
