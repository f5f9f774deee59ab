import type { Connection } from "../../cluster/connection.ts";
import {
  CONFIG_MAPS,
  collectionPath,
  NODE_LEDGERS,
  NODES,
  objectPath,
  PODS,
  type Resource,
} from "../../cluster/resources.ts";
import { nodeOfConfigMap, UNHEALTHY_NAMESPACE, unhealthyDevices } from "../../placement/gpushare.ts";
import { LEDGER_API_VERSION, LEDGER_KIND, readLedger } from "../../placement/ledger.ts";
import type { Claim, PlacedNode, PlacedPod } from "../../placement/model.ts";
import { createNodeUsage, podUsage } from "../../placement/node-usage.ts";
import { placedNode, placedPod } from "../../placement/placed.ts";
import { devicesOf, type Presence, usageOf } from "../../placement/usage.ts";
import { objectLookup } from "../../policy/lookup.ts";
import type { Lookup, Unreadable, View } from "../../policy/view.ts";
import { devices } from "../../policy/views/devices.ts";
import { nodeUsage } from "../../policy/views/node-usage.ts";
import { field, type JsonObject } from "../../protocol/json.ts";
import { CommandError } from "../command-error.ts";
import { entries } from "../kube-scheduler/extender.ts";
import { nameOf, type Subject } from "./subject.ts";

/** A node with whoever is on it. */
export interface LiveNode {
  readonly node: PlacedNode;
  readonly presence: Presence;
  /** Until when its ledger takes no pod with a device, in milliseconds since 1970; 0 for an open one. */
  readonly closedUntil: number;
}

/** The cluster as it is read once. */
export interface LiveCluster {
  readonly nodes: readonly LiveNode[];
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * Reads nodes, pods, ledgers and unhealthy devices. Ledgers and ConfigMaps that are not there or not allowed are taken
 * for none: bound pods say the same of themselves.
 *
 * @throws {CommandError} when nodes or pods cannot be read
 */
export async function readCluster(connection: Connection, now: number): Promise<LiveCluster> {
  const [nodes, pods, ledgers, marks] = await Promise.all([
    listed(connection, NODES),
    listed(connection, PODS),
    listed(connection, NODE_LEDGERS).catch(() => []),
    listed(connection, CONFIG_MAPS, UNHEALTHY_NAMESPACE).catch(() => []),
  ]);
  const placed = pods.map(placedPod);
  const unhealthy = new Map(marks.map((map) => [nodeOfConfigMap(map), unhealthyDevices(map).ids]));
  const byName = new Map(ledgers.map((ledger) => [String(field(field(ledger, "metadata"), "name")), ledger]));
  return {
    at: now,
    nodes: nodes.map((object) => {
      const name = String(field(field(object, "metadata"), "name"));
      const node = placedNode(object, unhealthy.get(name) ?? new Set());
      const ledger = ledgerOf(node, byName.get(name));
      return { node, presence: presenceOn(name, placed, ledger.claims), closedUntil: ledger.closedUntil };
    }),
  };
}

function presenceOn(name: string, pods: readonly PlacedPod[], claims: readonly Claim[]): Presence {
  return {
    pods: pods.filter(({ nodeName }) => nodeName === name),
    claims,
    nominated: pods.filter(({ nodeName, nominatedNode }) => nodeName === "" && nominatedNode === name),
  };
}

function ledgerOf(node: PlacedNode, object: JsonObject | undefined): Pick<LedgerPart, "claims" | "closedUntil"> {
  if (object === undefined) return { claims: [], closedUntil: 0 };
  const reading = readLedger({ ...object, apiVersion: LEDGER_API_VERSION, kind: LEDGER_KIND }, node.name);
  return reading.kind === "ledger" ? reading.ledger : { claims: [], closedUntil: 0 };
}

interface LedgerPart {
  readonly claims: readonly Claim[];
  readonly closedUntil: number;
}

/**
 * A pod of the cluster and every node, as a binder or scheduler would judge them now. What the pod itself holds is free
 * to it, so a bound pod is judged as if it were not.
 *
 * @throws {CommandError} when there is no such pod
 */
export async function liveSubject(
  connection: Connection,
  { namespace, name, now }: { readonly namespace: string; readonly name: string; readonly now: number },
): Promise<Subject> {
  const answer = await connection.call({ method: "GET", path: objectPath(PODS, { namespace, name }) });
  if (answer.kind === "notFound") throw new CommandError(`there is no pod ${namespace}/${name}`);
  if (answer.kind !== "ok") throw new CommandError(answer.message);
  const pod = placedPod(answer.object);
  const cluster = await readCluster(connection, now);
  const closed = pod.request > 0n ? cluster.nodes.filter(({ closedUntil }) => closedUntil > now) : [];
  return {
    pod: nameOf(answer.object),
    source: `as of ${new Date(now).toISOString()}, in the cluster ${connection.server}`,
    ...(pod.nodeName !== "" && { boundTo: pod.nodeName }),
    nodes: cluster.nodes.map(({ node }) => node.name),
    barred: new Map(closed.map(({ node }) => [node.name, CLOSED])),
    podFacts: objectLookup(answer.object, now),
    nodeFacts: cluster.nodes.map((live) => nodeLookup(live, pod, now)),
  };
}

const CLOSED = "node(s) had a device ledger that was made anew a moment ago";

/** Devices and usage by the pods that are there; everything else from the Node. */
function nodeLookup({ node, presence }: LiveNode, pod: PlacedPod, now: number): Lookup {
  const read = objectLookup(node.object, now);
  const viewpoint = { for: { uid: pod.uid, priority: pod.priority } };
  const known: Readonly<Record<string, () => unknown>> = {
    [devices.name]: () => ({ value: devicesOf(node, usageOf(node, presence, viewpoint)) }),
    [nodeUsage.name]: () => {
      const usage = createNodeUsage();
      const others = presence.pods.filter(({ uid, terminal }) => !terminal && uid !== pod.uid);
      for (const other of others) usage.add(podUsage(other.object));
      return usage;
    },
  };
  return <T>(view: View<T>): T | Unreadable =>
    Object.hasOwn(known, view.name) ? (known[view.name]?.() as T) : read(view);
}

async function listed(connection: Connection, resource: Resource, namespace?: string): Promise<JsonObject[]> {
  const call = { method: "GET", path: collectionPath(resource, namespace), within: 60_000 } as const;
  const answer = await connection.call(call);
  if (answer.kind !== "ok") throw new CommandError(answer.message);
  return entries(field(answer.object, "items"));
}
