import { type Facts, gather, objectLookup } from "../policy/lookup.ts";
import type { Policy } from "../policy/policy.ts";
import type { Lookup, Unreadable, View } from "../policy/view.ts";
import { devices } from "../policy/views/devices.ts";
import { nodeUsage } from "../policy/views/node-usage.ts";
import type { KnownNode } from "./cluster.ts";

/** How long a fact or a verdict may be repeated, in milliseconds: a view may depend on the time. */
const KEPT_FOR = 10_000;

/** False once it has to be found out again; the clock may have been set back. */
export function isRecent(since: number, now: number): boolean {
  return now >= since && now < since + KEPT_FOR;
}

/**
 * A node's facts: what its pods take and its devices as known here, everything else as the node itself says.
 *
 * @param held the node's devices, as the plugins are to see them
 */
export function nodeLookup(node: KnownNode, now: number, held: () => unknown): Lookup {
  return <T>(view: View<T>): T | Unreadable => {
    if (view.name === nodeUsage.name) return node.usage as T;
    if (view.name === devices.name) return { value: held() } as T;
    return readOnce(node, now, view, () => objectLookup(node.node.object, now)(view)) as T | Unreadable;
  };
}

/**
 * What each of a policy's plugins reads of a node, in their order: read once for each version of the node. What its pods
 * take is among it as the sum that runs on. None of the plugins may look at devices.
 */
export function factsOfNode(node: KnownNode, policy: Policy, now: number): readonly (Facts | Unreadable)[] {
  return readOnce(node, now, policy, () => {
    const lookup = nodeLookup(node, now, () => undefined);
    return policy.plugins.map(({ views }) => gather(views.node, lookup));
  });
}

function readOnce<T>({ facts }: KnownNode, now: number, what: object, read: () => T): T {
  if (!isRecent(facts.since, now)) Object.assign(facts, { since: now, values: new Map() });
  const known = facts.values.get(what);
  if (known !== undefined) return known as T;
  const value = read();
  facts.values.set(what, value);
  return value;
}
