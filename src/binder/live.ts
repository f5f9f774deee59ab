import type { Claim, PlacedNode } from "../placement/model.ts";
import { devicesOf, type Viewpoint } from "../placement/usage.ts";
import { kindTexts } from "../policy/alike.ts";
import type { FleetFacts } from "../policy/facts.ts";
import { objectLookup } from "../policy/lookup.ts";
import { type Policy, viewsOf } from "../policy/policy.ts";
import type { Known, Lookup, Unreadable, View } from "../policy/view.ts";
import { everyView } from "../policy/view-table.ts";
import { type Devices, devices } from "../policy/views/devices.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Far } from "../remote/far.ts";
import type { State } from "./state.ts";

/** A policy with the cluster it is asked about. */
export interface LivePolicy {
  readonly policy: Policy;
  /** The same policy, quick on nodes that are alike; for decisions, not for explanations. */
  readonly quick: Policy;
  /** Nodes that the policy takes for the same as long as nobody holds a device of them; see {@link liveKinds}. */
  readonly kinds: NodeKinds;
  readonly facts: FleetFacts;
  readonly around: Lookup;
  readonly state: State;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** For the plugins that a function has to be asked about; absent when there are none. */
  readonly far?: Far;
}

/** The kind of a node, the same object for alike nodes; undefined for one that is like no other. */
export type NodeKinds = (node: PlacedNode) => object | undefined;

/** `<profile>@<version>` */
export function nameOf({ policy }: Pick<LivePolicy, "policy">): string {
  return `${policy.profile}@${policy.version}`;
}

/**
 * The policy as it judges this pod on these nodes: what a function has to be asked is there, or has failed to come.
 *
 * @param nodes gives the nodes as they are when it is called; decide by what it gives afterwards
 */
export async function policyFor(
  { quick, far }: LivePolicy,
  pod: JsonObject,
  nodes: () => readonly (PlacedNode | undefined)[],
): Promise<Policy> {
  return far ? far.withRows(pod, () => nodes().flatMap((node) => (node ? [node.object] : []))) : quick;
}

/** Of most nodes of most clusters. */
const NO_DEVICES: Known<Devices> = { value: { generation: 0, devices: {} } };

/** A node's facts, for one decision: its devices as they are held now, everything else as the node itself says. */
export function liveNode(
  { state, now }: LivePolicy,
  node: PlacedNode,
  viewpoint: Viewpoint,
  claims?: readonly Claim[],
): Lookup {
  const read = objectLookup(node.object, now());
  let held: Known<Devices> | undefined = node.devices.length === 0 ? NO_DEVICES : undefined;
  return <T>(view: View<T>): T | Unreadable => {
    if (view.name !== devices.name) return read(view);
    held ??= { value: devicesOf(node, state.usage(node, viewpoint, claims)) };
    return held as T;
  };
}

/** Kinds come and go with their nodes; forgetting them costs no more than a few judgements. */
const MOST_KINDS = 10_000;

/** Tells nodes apart by their devices and by all else that a policy reads of them. Reads each node once. */
export function liveKinds(policy: Policy): NodeKinds {
  const textOf = kindTexts(policy, devices);
  if (textOf === undefined) return () => undefined;
  const byNode = new WeakMap<PlacedNode, { readonly kind: object | undefined }>();
  const byText = new Map<string, object>();
  const read = (node: PlacedNode): object | undefined => {
    const text = textOf(node.object);
    if (text === undefined) return undefined;
    const slots = node.devices.map(({ id, total, healthy }) => `${id}:${total}:${healthy}`);
    const key = `${slots.join()} ${text}`;
    const kind = byText.get(key) ?? {};
    if (byText.size >= MOST_KINDS) byText.clear();
    byText.set(key, kind);
    return kind;
  };
  return (node) => {
    const known = byNode.get(node) ?? { kind: read(node) };
    byNode.set(node, known);
    return known.kind;
  };
}

/** The facts of nodes for one decision. */
export interface LiveNodes {
  readonly nodes: readonly Lookup[];
  /** For each node that was given, the place of its lookup. */
  readonly each: readonly number[];
}

/**
 * The facts of nodes for one decision, as {@link liveNode} has them. Alike nodes of which nobody holds a device share
 * one lookup: a thousand nodes are a few dozen kinds.
 */
export function liveNodes(live: LivePolicy, found: readonly PlacedNode[], viewpoint: Viewpoint): LiveNodes {
  const { state, kinds } = live;
  const nodes: Lookup[] = [];
  const places = new Map<object, number>();
  const add = (node: PlacedNode): number => nodes.push(liveNode(live, node, viewpoint)) - 1;
  const each = found.map((node) => {
    const free = node.devices.length === 0 || state.usage(node, viewpoint).holders.length === 0;
    const kind = free ? kinds(node) : undefined;
    if (kind === undefined) return add(node);
    const known = places.get(kind);
    if (known !== undefined) return known;
    const place = add(node);
    places.set(kind, place);
    return place;
  });
  return { nodes, each };
}

/**
 * The places of node objects that any policy may read, those to come included: policies change while nodes are
 * followed. What the binder knows better itself is not among them.
 */
export function livePaths(policies: Iterable<Policy>): string[] {
  const views = [...everyView(), ...[...policies].flatMap(viewsOf)];
  const read = views.filter((view) => view.of === "node" && view.read && view.name !== devices.name);
  return [...new Set(read.flatMap(({ paths }) => paths))].sort();
}

/** The first view that a policy reads and that nobody here can tell, in a sentence; undefined when there is none. */
export function livePolicyFault(policy: Policy): string | undefined {
  for (const plugin of policy.plugins) {
    const view = viewsOf({ ...policy, plugins: [plugin] }).find((each) => each.read === undefined);
    if (view) return `plugin ${plugin.spec.name} reads ${view.name}, which this binder does not watch`;
  }
  return undefined;
}
