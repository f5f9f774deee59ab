import type { Json, JsonObject } from "../../protocol/json.ts";
import { field } from "../../protocol/json.ts";
import type { PlacedPod } from "../model.ts";
import type { BindingOrder, PlacementPorts, PodRef, RevocationOrder } from "../ports.ts";

/** A pod at the API server, as far as the protocol can tell one from another. */
export interface WorldPod {
  readonly uid: string;
  readonly version: number;
  /** Empty while it is not bound. */
  readonly node: string;
  readonly device: string;
  readonly assumeTime: string;
  readonly revoked: string;
  readonly ended: boolean;
}

/** A ledger at the API server: the body as it was sent. */
export interface WorldLedger {
  readonly version: number;
  readonly body: JsonObject;
}

/** All that the API server holds. Never changed: each write makes another one. */
export interface World {
  readonly pods: Readonly<Record<string, WorldPod>>;
  readonly ledgers: Readonly<Record<string, WorldLedger>>;
  /** Counts the writes to ledgers, so that no version is given twice even when a ledger is deleted. */
  readonly ledgerVersion: number;
}

/** A request to the API server, on its way. */
export interface Call {
  readonly op: keyof PlacementPorts;
  readonly argument: unknown;
}

/** What became of a request that arrived. */
export interface Served {
  readonly world: World;
  readonly outcome: JsonObject;
}

/** The annotation that carries the device, and the time it was promised. */
export const DEVICE = "device";
export const ASSUME_TIME = "assume-time";

/** Serves one request in one atomic step, by the API server's own rules for UIDs, versions and bound pods. */
export function serve(world: World, { op, argument }: Call): Served {
  switch (op) {
    case "readPod": {
      const { name } = argument as PodRef;
      const pod = world.pods[name];
      return { world, outcome: pod === undefined ? { kind: "gone" } : { kind: "found", object: podObject(name, pod) } };
    }
    case "listPodsOnNode": {
      const here = Object.entries(world.pods).filter(([, pod]) => pod.node === argument);
      return { world, outcome: { kind: "pods", pods: here.map(([name, pod]) => podObject(name, pod)) } };
    }
    case "postBinding":
      return bind(world, argument as BindingOrder);
    case "markRevoked":
      return revoke(world, argument as RevocationOrder);
    case "readLedger": {
      const ledger = world.ledgers[argument as string];
      return { world, outcome: ledger === undefined ? { kind: "gone" } : { kind: "found", object: stored(ledger) } };
    }
    case "createLedger":
    case "updateLedger":
      return writeLedger(world, op, argument as JsonObject);
  }
}

/** True for requests that change something. */
export function isWrite({ op }: Call): boolean {
  return op !== "readPod" && op !== "readLedger" && op !== "listPodsOnNode";
}

/** Reads a pod of this world, as placement would a real one. */
export function placedPod(object: JsonObject): PlacedPod {
  const metadata = field(object, "metadata");
  const annotations = field(metadata, "annotations");
  const word = (from: Json | undefined, key: string) => String(field(from, key) ?? "");
  const device = word(annotations, DEVICE);
  const revoked = word(annotations, "berth.dev/revoked");
  return {
    uid: word(metadata, "uid"),
    namespace: word(metadata, "namespace"),
    name: word(metadata, "name"),
    resourceVersion: word(metadata, "resourceVersion"),
    nodeName: word(field(object, "spec"), "nodeName"),
    priority: 0,
    terminal: word(field(object, "status"), "phase") === "Failed",
    request: 1n,
    ...(device === "" ? {} : { assigned: { device, amount: 1n, assumeTime: BigInt(word(annotations, ASSUME_TIME)) } }),
    ...(revoked === "" ? {} : { revoked }),
    object,
  };
}

function bind(world: World, order: BindingOrder): Served {
  const pod = world.pods[order.name];
  if (pod === undefined) return { world, outcome: { kind: "gone" } };
  const stale = order.resourceVersion !== undefined && order.resourceVersion !== String(pod.version);
  if (pod.uid !== order.uid || stale || pod.node !== "") return { world, outcome: conflict() };
  const { [DEVICE]: device = "", [ASSUME_TIME]: assumeTime = "" } = order.annotations;
  return {
    world: withPod(world, order.name, { ...pod, node: order.nodeName, device, assumeTime }),
    outcome: { kind: "bound" },
  };
}

function revoke(world: World, order: RevocationOrder): Served {
  const pod = world.pods[order.name];
  if (pod === undefined) return { world, outcome: { kind: "gone" } };
  if (pod.uid !== order.uid || order.resourceVersion !== String(pod.version)) return { world, outcome: conflict() };
  const outcome = { kind: "patched" };
  // A patch that changes nothing writes nothing, and leaves the version as it is.
  if (pod.revoked === order.claimId) return { world, outcome };
  return { world: withPod(world, order.name, { ...pod, revoked: order.claimId }), outcome };
}

function writeLedger(world: World, op: "createLedger" | "updateLedger", body: JsonObject): Served {
  const metadata = field(body, "metadata");
  const name = String(field(metadata, "name"));
  const now = world.ledgers[name];
  if (op === "createLedger" && now !== undefined) return { world, outcome: conflict() };
  if (op === "updateLedger" && now === undefined) return { world, outcome: { kind: "gone" } };
  const version = field(metadata, "resourceVersion");
  if (op === "updateLedger" && version !== String(now?.version)) return { world, outcome: conflict() };
  const ledger = { version: world.ledgerVersion + 1, body };
  const ledgers = { ...world.ledgers, [name]: ledger };
  return {
    world: { ...world, ledgers, ledgerVersion: ledger.version },
    outcome: { kind: "written", object: stored(ledger) },
  };
}

/** The world with this pod changed, under its next version. */
export function withPod(world: World, name: string, pod: WorldPod): World {
  return { ...world, pods: { ...world.pods, [name]: { ...pod, version: pod.version + 1 } } };
}

function stored({ version, body }: WorldLedger): JsonObject {
  const metadata = field(body, "metadata") as JsonObject;
  return { ...body, metadata: { ...metadata, resourceVersion: String(version) } };
}

export function podObject(name: string, pod: WorldPod): JsonObject {
  const { uid, version, node, device, assumeTime, revoked, ended } = pod;
  const annotations = {
    ...(device === "" ? {} : { [DEVICE]: device, [ASSUME_TIME]: assumeTime }),
    ...(revoked === "" ? {} : { "berth.dev/revoked": revoked }),
  };
  return {
    metadata: { namespace: "default", name, uid, resourceVersion: String(version), annotations },
    spec: node === "" ? {} : { nodeName: node },
    status: { phase: ended ? "Failed" : "Pending" },
  };
}

function conflict(): JsonObject {
  return { kind: "conflict", message: "conflict" };
}
