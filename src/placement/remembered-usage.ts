import type { Usage } from "./holdings.ts";
import type { PlacedNode } from "./model.ts";
import { type Presence, usageOf, type Viewpoint } from "./usage.ts";

/** As {@link usageOf} answers. */
export type ReadUsage = (node: PlacedNode, presence: Presence, viewpoint?: Viewpoint) => Usage;

/** What was found for nobody in particular. */
interface Remembered extends Presence {
  readonly usage: Usage;
}

/**
 * As {@link usageOf}, adding up only after something has changed, for a host whose nodes and lists are never changed in
 * place: as long as they are the same objects, what is held is the same. Whoever holds something of the node itself, or
 * asks what would be without others, is answered anew, and so is everybody where pods are nominated: that depends on
 * who asks.
 */
export function rememberingUsage(): ReadUsage {
  const byNode = new WeakMap<PlacedNode, Remembered>();
  return (node, presence, viewpoint = {}) => {
    const { pods, claims, nominated = [] } = presence;
    if (nominated.length > 0 || viewpoint.without !== undefined) return usageOf(node, presence, viewpoint);
    let known = byNode.get(node);
    if (known?.pods !== pods || known.claims !== claims) {
      known = { pods, claims, usage: usageOf(node, { pods, claims }) };
      byNode.set(node, known);
    }
    const own = known.usage.holders.some(({ uid }) => uid === viewpoint.for?.uid);
    return own ? usageOf(node, presence, viewpoint) : known.usage;
  };
}
