import { field, type JsonObject } from "../protocol/json.ts";
import { type PodSketch, podObject } from "./gpu-fixture.ts";
import { readLedger } from "./ledger.ts";
import type { Ledger, PlacedPod } from "./model.ts";
import { placedPod } from "./placed.ts";
import type { BindingOrder, PlacementPorts, PodRef, RevocationOrder } from "./ports.ts";

/** A request as it reached the API server. */
export interface ApiRequest {
  readonly op: keyof PlacementPorts;
  readonly argument: unknown;
}

/** An API server for tests, in memory, with the rules that the protocol builds on. */
export interface FakeApi {
  readonly ports: PlacementPorts;
  /** All requests that have taken effect or were answered, in the order of their arrival. */
  readonly requests: ApiRequest[];
  /** Set by a test to lose, delay or refuse requests; `serve` lets one take effect. */
  intercept(request: ApiRequest, serve: () => unknown): unknown;
  addPod(sketch: PodSketch): Pick<PlacedPod, "namespace" | "name" | "uid">;
  /** Changes a pod under its next version; undefined deletes it. */
  changePod(uid: string, change: (pod: JsonObject) => JsonObject | undefined): void;
  pod(uid: string): PlacedPod | undefined;
  pods(): readonly PlacedPod[];
  /** The node's ledger, if it can be read. */
  ledger(node: string): Ledger | undefined;
  rawLedger(node: string): JsonObject | undefined;
  putLedger(node: string, object: JsonObject | undefined): void;
}

/** The answer that a request gets whose fate is not known. */
export const LOST = { kind: "unknown", message: "connection reset" };

/** The answer to a failed precondition. */
export const CONFLICT = { kind: "conflict", message: "the object has been modified" };

export function createFakeApi(): FakeApi {
  const store: Store = { pods: new Map(), ledgers: new Map(), version: 1 };
  const requests: ApiRequest[] = [];
  const api: FakeApi = {
    ports: new Proxy({} as PlacementPorts, {
      get: (_, op: keyof PlacementPorts) => async (argument: never) => {
        const request = { op, argument };
        return api.intercept(request, () => {
          requests.push(request);
          return SERVED[op](store, argument);
        });
      },
    }),
    requests,
    intercept: (_, serve) => serve(),
    addPod(sketch) {
      const pod = placedPod(put(store, "pods", podObject({ phase: "Pending", ...sketch })));
      return { namespace: pod.namespace, name: pod.name, uid: pod.uid };
    },
    changePod(uid, change) {
      const old = Array.from(store.pods.values()).find((pod) => placedPod(pod).uid === uid);
      const changed = old === undefined ? undefined : change(old);
      if (changed !== undefined) put(store, "pods", changed);
      else if (old !== undefined) store.pods.delete(nameOf(old));
    },
    pod: (uid) => api.pods().find((pod) => pod.uid === uid),
    pods: () => Array.from(store.pods.values(), placedPod),
    rawLedger: (node) => store.ledgers.get(node),
    ledger(node) {
      const object = store.ledgers.get(node);
      const reading = object === undefined ? undefined : readLedger(object, node);
      return reading?.kind === "ledger" ? reading.ledger : undefined;
    },
    putLedger(node, object) {
      if (object === undefined) store.ledgers.delete(node);
      else put(store, "ledgers", object);
    },
  };
  return api;
}

interface Store {
  readonly pods: Map<string, JsonObject>;
  readonly ledgers: Map<string, JsonObject>;
  version: number;
}

const SERVED: Record<keyof PlacementPorts, (store: Store, argument: never) => unknown> = {
  readPod: ({ pods }, { name }: PodRef) => found(pods.get(name)),
  listPodsOnNode: ({ pods }, node: string) => ({
    kind: "pods",
    pods: Array.from(pods.values()).filter((pod) => placedPod(pod).nodeName === node),
  }),
  postBinding(store, order: BindingOrder) {
    const pod = store.pods.get(order.name);
    if (pod === undefined) return { kind: "gone" };
    if (differs(pod, order) || placedPod(pod).nodeName !== "") return CONFLICT;
    const spec = { ...(field(pod, "spec") as JsonObject), nodeName: order.nodeName };
    put(store, "pods", annotated({ ...pod, spec }, order.annotations));
    return { kind: "bound" };
  },
  markRevoked(store, order: RevocationOrder) {
    const pod = store.pods.get(order.name);
    if (pod === undefined) return { kind: "gone" };
    if (differs(pod, order)) return CONFLICT;
    put(store, "pods", annotated(pod, { "berth.dev/revoked": order.claimId }));
    return { kind: "patched" };
  },
  readLedger: ({ ledgers }, node: string) => found(ledgers.get(node)),
  createLedger(store, object: JsonObject) {
    return store.ledgers.has(nameOf(object)) ? CONFLICT : { kind: "written", object: put(store, "ledgers", object) };
  },
  updateLedger(store, object: JsonObject) {
    const now = store.ledgers.get(nameOf(object));
    if (now === undefined) return { kind: "gone" };
    return versionOf(now) === versionOf(object) ? { kind: "written", object: put(store, "ledgers", object) } : CONFLICT;
  },
};

function put(store: Store, where: "pods" | "ledgers", object: JsonObject): JsonObject {
  const metadata = field(object, "metadata") as JsonObject;
  store.version += 1;
  const stamped = { ...object, metadata: { ...metadata, resourceVersion: String(store.version) } };
  store[where].set(nameOf(object), stamped);
  return stamped;
}

function annotated(pod: JsonObject, annotations: Readonly<Record<string, string>>): JsonObject {
  const metadata = field(pod, "metadata") as JsonObject;
  const merged = { ...(field(metadata, "annotations") as JsonObject), ...annotations };
  return { ...pod, metadata: { ...metadata, annotations: merged } };
}

function differs(pod: JsonObject, { uid, resourceVersion }: { uid: string; resourceVersion?: string }): boolean {
  return placedPod(pod).uid !== uid || (resourceVersion !== undefined && resourceVersion !== versionOf(pod));
}

function found(object: JsonObject | undefined): unknown {
  return object === undefined ? { kind: "gone" } : { kind: "found", object };
}

function versionOf(object: JsonObject): string {
  return String(field(field(object, "metadata"), "resourceVersion"));
}

function nameOf(object: JsonObject): string {
  return String(field(field(object, "metadata"), "name"));
}
