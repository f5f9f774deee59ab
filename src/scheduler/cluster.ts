import { LRUCache } from "lru-cache";
import type { PlacedNode, PlacedPod } from "../placement/model.ts";
import { createNodeUsage, type PodUsage, podUsage, type RunningUsage, USAGE_PATHS } from "../placement/node-usage.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { podText } from "./pod-text.ts";
import { inTurns } from "./sampling.ts";

/** A node with all that is on it, as the scheduler sees it. */
export interface NodeEntry {
  readonly name: string;
  /** A small number that no other node has meanwhile. */
  readonly slot: number;
  /** Absent while only pods of the node are known. */
  readonly node?: PlacedNode;
  /** Changes with every change of the node and of the pods on it; never repeats. */
  readonly generation: number;
  /** Changes with every change of the node itself; never repeats. */
  readonly version: number;
  /** What its pods take, assumed ones included. */
  readonly usage: RunningUsage;
  readonly pods: ReadonlyMap<string, PodEntry>;
  /** For whoever reads facts of this version of the node: it need not read them again. */
  readonly facts: ReadFacts;
}

/** Facts of one version of a node. */
export interface ReadFacts {
  /** When the first of them was read, in milliseconds since 1970. */
  readonly since: number;
  readonly values: Map<object, unknown>;
}

/** A known node. */
export type KnownNode = NodeEntry & { readonly node: PlacedNode };

/** A pod on a node. */
export interface PodEntry {
  readonly pod: PlacedPod;
  readonly node: string;
  readonly usage: PodUsage;
  /** True until the API server's watch has shown the pod on its node. */
  readonly assumed: boolean;
}

/**
 * The nodes and the pods on them, with what these take as a running sum. A pod that has just been given a node counts
 * at once (`assume`), until the watch shows it, or `forget` takes it back.
 */
export interface Cluster {
  /** The known nodes, zone by zone in turns. */
  nodes(): readonly KnownNode[];
  get(name: string): NodeEntry | undefined;
  putNode(node: PlacedNode): void;
  dropNode(name: string): void;
  /** A pod as the watch shows it. True when it was on a node and is not any more, or takes something else of it. */
  putPod(pod: PlacedPod): boolean;
  /** A pod that is not there any more, or has ended. True when it was on a node. */
  dropPod(uid: string): boolean;
  /** Without effect for a pod that is on a node by now. */
  assume(pod: PlacedPod, node: string): void;
  forget(uid: string): void;
  podOn(uid: string): PodEntry | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Entry = Mutable<Omit<NodeEntry, "pods">> & { readonly pods: Map<string, PodEntry> };

const noFacts = (): ReadFacts => ({ since: 0, values: new Map() });

/** Kinds of pods whose usage is remembered. */
const KEPT_USAGES = 4_096;

const ZONE = "topology.kubernetes.io/zone";

/** @param unreadable hears of a pod whose requests cannot be read: it counts as one that takes nothing */
export function createCluster(unreadable: (pod: PlacedPod, problem: string) => void): Cluster {
  const shelf = createShelf();
  const byUid = new Map<string, PodEntry>();
  const usageOf = rememberingUsage();
  const take = (uid: string): PodEntry | undefined => {
    const known = byUid.get(uid);
    if (known === undefined) return undefined;
    byUid.delete(uid);
    shelf.change(known.node, (entry) => {
      entry.pods.delete(uid);
      entry.usage.remove(known.usage);
    });
    return known;
  };
  const place = (pod: PlacedPod, node: string, assumed: boolean): void => {
    const usage = usageOf(pod.object);
    if (usage.unreadable !== undefined) unreadable(pod, String(usage.unreadable));
    const placed = { pod, node, usage, assumed };
    byUid.set(pod.uid, placed);
    shelf.change(node, (entry) => {
      entry.pods.set(pod.uid, placed);
      entry.usage.add(usage);
    });
  };
  return {
    ...shelf.reading,
    putNode: (node) =>
      shelf.change(node.name, (entry) => {
        entry.node = node;
        entry.facts = noFacts();
      }),
    dropNode: (name) =>
      shelf.change(name, (entry) => {
        delete entry.node;
      }),
    putPod(pod) {
      const known = byUid.get(pod.uid);
      // Still unbound for the watch: what is assumed of it stands.
      if (pod.nodeName === "" && known?.assumed === true) return false;
      take(pod.uid);
      if (pod.nodeName !== "" && !pod.terminal) place(pod, pod.nodeName, false);
      return known !== undefined && takesOtherwise(known, byUid.get(pod.uid));
    },
    dropPod: (uid) => take(uid) !== undefined,
    assume(pod, node) {
      if (!byUid.has(pod.uid)) place(pod, node, true);
    },
    forget(uid) {
      if (byUid.get(uid)?.assumed === true) take(uid);
    },
    podOn: (uid) => byUid.get(uid),
  };
}

/** Pods of one template take the same; each is read when it is assumed and again when the watch shows it. */
function rememberingUsage(): (pod: JsonObject) => PodUsage {
  const textOf = podText(USAGE_PATHS);
  const known = new LRUCache<string, PodUsage>({ max: KEPT_USAGES });
  return (pod) => {
    const text = textOf(pod);
    const usage = known.get(text) ?? podUsage(pod);
    known.set(text, usage);
    return usage;
  };
}

function takesOtherwise(before: PodEntry, now: PodEntry | undefined): boolean {
  if (now?.node === before.node && now.usage === before.usage) return false;
  const requested = ({ usage }: PodEntry) => JSON.stringify(usage.requested);
  return now?.node !== before.node || requested(now) !== requested(before);
}

/** The nodes by name. One without pods that is not known either is forgotten, and its slot given to another. */
function createShelf() {
  const entries = new Map<string, Entry>();
  const free: number[] = [];
  let list: readonly KnownNode[] | undefined;
  let generations = 0;
  const open = (name: string): Entry => {
    const known = entries.get(name);
    if (known !== undefined) return known;
    const slot = free.pop() ?? entries.size;
    const entry = {
      name,
      slot,
      generation: 0,
      version: 0,
      usage: createNodeUsage(),
      pods: new Map(),
      facts: noFacts(),
    };
    entries.set(name, entry);
    return entry;
  };
  const change = (name: string, edit: (entry: Entry) => void): void => {
    const entry = open(name);
    const [before, zone] = [entry.node, zoneOf(entry)];
    edit(entry);
    generations += 1;
    entry.generation = generations;
    if (entry.node !== before) entry.version = generations;
    if ((before === undefined) !== (entry.node === undefined) || zone !== zoneOf(entry)) list = undefined;
    if (entry.node !== undefined || entry.pods.size > 0) return;
    entries.delete(name);
    free.push(entry.slot);
  };
  const nodes = (): readonly KnownNode[] => {
    list ??= inTurns(([...entries.values()] as readonly NodeEntry[]).filter(isKnown), zoneOf);
    return list as readonly KnownNode[];
  };
  return { change, reading: { nodes, get: (name: string): NodeEntry | undefined => entries.get(name) } };
}

function isKnown(entry: NodeEntry): entry is KnownNode {
  return entry.node !== undefined;
}

function zoneOf({ node }: Pick<NodeEntry, "node">): string {
  const zone = field(field(field(node?.object, "metadata"), "labels"), ZONE);
  return typeof zone === "string" ? zone : "";
}
