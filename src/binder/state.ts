import type { Log } from "../extender/log.ts";
import { type DisruptionBudget, disruptionBudget } from "../placement/disruption.ts";
import type { Usage } from "../placement/holdings.ts";
import { type LedgerReading, readLedger } from "../placement/ledger.ts";
import type { Claim, Ledger, PlacedNode } from "../placement/model.ts";
import { usageOf, type Viewpoint } from "../placement/usage.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { indexNodes, type NodeIndex } from "./node-index.ts";
import type { Sources } from "./objects.ts";
import { indexPods, type PodIndex } from "./pod-index.ts";

/** The cluster as the binder sees it at this moment. */
export interface State {
  readonly pods: PodIndex;
  readonly nodes: NodeIndex;
  /** Who holds what of a node's devices; with `claims`, by those instead of the ones last seen. */
  usage(node: PlacedNode, viewpoint?: Viewpoint, claims?: readonly Claim[]): Usage;
  /** A node's ledger as last seen, by the watch or by this process's own writes, whichever is newer. */
  ledger(node: string): Ledger | undefined;
  /** True while no pod is given a device of the node, because its ledger was made anew. */
  closed(node: string, now: number): boolean;
  /** True while the node's ledger is in the format of a newer release: no pod is given a device of it by this one. */
  newer(node: string): boolean;
  budgets(): readonly DisruptionBudget[];
}

/** What the state is made of. */
export interface StateOptions {
  readonly sources: Sources;
  /** The ledger as this process last wrote or read it. */
  readonly peek: (node: string) => Ledger | undefined;
  readonly log: Log;
}

/** Follows the cluster for as long as the program runs. */
export function createState({ sources, peek, log }: StateOptions): State {
  const pods = indexPods(sources.pods);
  const nodes = indexNodes(sources, log);
  const read = remembering();
  const ledger = (node: string): Ledger | undefined => {
    const [own, object] = [peek(node), sources.ledgers.get(node)];
    if (object === undefined || (own !== undefined && versionOf(own) >= versionOf(metadataOf(object)))) return own;
    const reading = read(object, node);
    return reading.kind === "ledger" ? reading.ledger : own;
  };
  return {
    pods,
    nodes,
    ledger,
    usage: (node, viewpoint, claims = ledger(node.name)?.claims ?? []) =>
      usageOf(node, { pods: pods.on(node.name), claims, nominated: pods.nominatedTo(node.name) }, viewpoint),
    closed: (node, now) => now < (ledger(node)?.closedUntil ?? 0),
    newer: (node) => {
      const object = sources.ledgers.get(node);
      return object !== undefined && read(object, node).kind === "newer";
    },
    budgets: () => [...sources.budgets.values()].map(disruptionBudget),
  };
}

/** Followed objects are never changed, so each is read once. */
function remembering(): (object: JsonObject, node: string) => LedgerReading {
  const readings = new WeakMap<JsonObject, LedgerReading>();
  return (object, node) => {
    const reading = readings.get(object) ?? readLedger(object, node);
    readings.set(object, reading);
    return reading;
  };
}

/** Decimal and growing for every object of one resource since Kubernetes 1.35, and in fact for long before. */
function versionOf({ resourceVersion }: { readonly resourceVersion: string }): bigint {
  return /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
}

function metadataOf(object: JsonObject): { readonly resourceVersion: string } {
  const resourceVersion = field(field(object, "metadata"), "resourceVersion");
  return { resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "" };
}
