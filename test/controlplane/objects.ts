import type { Json, JsonObject } from "../../src/protocol/json.ts";

// Aliases and not interfaces: only an alias may stand where a JsonObject is asked for.

/** The part of ObjectMeta that tests read or write. */
export type ObjectMeta = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly JsonObject[];
  readonly managedFields?: readonly ManagedFields[];
};

/** Which fields one manager owns (metav1.ManagedFieldsEntry). */
export type ManagedFields = {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: string;
  readonly fieldsV1: JsonObject;
  readonly subresource?: string;
};

/** Any object of the API, with the fields that say which. */
export type KubeObject = JsonObject & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/** What names an object. */
export type Ref = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

/** Quantities by resource name. */
export type Quantities = Readonly<Record<string, string>>;

/** A taint of a node. */
export type Taint = { readonly key: string; readonly value?: string; readonly effect: string };

/** A condition of a pod or a node. */
export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
};

/** A container image on a node. */
export type NodeImage = { readonly names: readonly string[]; readonly sizeBytes: number };

/** A node with the fields that tests read. */
export type Node = KubeObject & {
  readonly spec: JsonObject & { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean };
  readonly status: JsonObject & {
    readonly capacity: Quantities;
    readonly allocatable: Quantities;
    readonly conditions: readonly Condition[];
    readonly images: readonly NodeImage[];
  };
};

/** A container with the fields that tests read. */
export type Container = JsonObject & {
  readonly name: string;
  readonly image: string;
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities };
};

/** A pod with the fields that tests read. */
export type Pod = KubeObject & {
  readonly spec: JsonObject & {
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly nodeName?: string;
    readonly schedulerName?: string;
    readonly priority?: number;
  };
  readonly status?: JsonObject & { readonly phase?: string; readonly conditions?: readonly Condition[] };
};

/** A v1 Event with the fields that tests read. */
export type Event = KubeObject & {
  readonly type: string;
  readonly reason: string;
  /** Absent where the event has no text. */
  readonly message?: string;
  /** Absent for events of events.k8s.io that happened once. */
  readonly count?: number;
  readonly reportingComponent?: string;
  readonly involvedObject: JsonObject;
};

/** Names a pod; the namespace defaults to `default`. */
export function podRef(name: string, namespace = "default"): Ref {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace } };
}

/** Names a node. */
export function nodeRef(name: string): Ref {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

/** A PriorityClass manifest: the API server accepts a pod's priority only by the name of one. */
export function priorityClass(name: string, value: number): KubeObject & { readonly value: Json } {
  return { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value };
}
