import type { Log } from "../extender/log.ts";
import { type DisruptionBudget, disruptionBudget } from "../placement/disruption.ts";
import { type FollowedLedgers, followLedgers } from "../placement/followed-ledgers.ts";
import type { Usage } from "../placement/holdings.ts";
import type { Claim, Ledger, PlacedNode } from "../placement/model.ts";
import { rememberingUsage } from "../placement/remembered-usage.ts";
import type { Viewpoint } from "../placement/usage.ts";
import { indexNodes, type NodeIndex } from "./node-index.ts";
import type { Sources } from "./objects.ts";
import { indexPods, type PodIndex } from "./pod-index.ts";

/** The cluster as the binder sees it at this moment. */
export interface State extends FollowedLedgers {
  readonly pods: PodIndex;
  readonly nodes: NodeIndex;
  /** Who holds what of a node's devices; with `claims`, by those instead of the ones last seen. */
  usage(node: PlacedNode, viewpoint?: Viewpoint, claims?: readonly Claim[]): Usage;
  budgets(): readonly DisruptionBudget[];
}

/** What the state is made of. */
export interface StateOptions {
  readonly sources: Sources;
  /** The ledger as this process last wrote or read it. */
  readonly peek: (node: string) => Ledger | undefined;
  readonly log: Log;
}

const NONE: readonly Claim[] = [];

/** Follows the cluster for as long as the program runs. */
export function createState({ sources, peek, log }: StateOptions): State {
  const pods = indexPods(sources.pods);
  const nodes = indexNodes(sources, log);
  const ledgers = followLedgers((node) => sources.ledgers.get(node), peek);
  const usage = rememberingUsage();
  return {
    ...ledgers,
    pods,
    nodes,
    usage(node, viewpoint, claims) {
      const { name } = node;
      const held = claims ?? ledgers.ledger(name)?.claims ?? NONE;
      return usage(node, { pods: pods.on(name), claims: held, nominated: pods.nominatedTo(name) }, viewpoint);
    },
    budgets: () => [...sources.budgets.values()].map(disruptionBudget),
  };
}
