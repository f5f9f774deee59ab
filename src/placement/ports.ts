import type { JsonObject } from "../protocol/json.ts";

/**
 * What the placement protocol needs of the API server, and all it may assume about it. Nothing here throws or rejects
 * for an answer that the protocol expects: conflicts, missing objects and lost answers are values. Objects travel as
 * plain JSON in the shape of the Kubernetes API, unknown fields included; reading them is placement's business.
 *
 * Every read is fresh: a GET or LIST without `resourceVersion`, never the watch cache of a client.
 */
export interface PlacementPorts extends PodPort, LedgerPort {}

/** Where a pod is found. The name says nothing about which pod it is: that is the UID's part. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
}

/** HTTP 404: the object does not exist. */
export interface Gone {
  readonly kind: "gone";
}

/** HTTP 409: a precondition (UID, resourceVersion) failed, the name exists already, or the pod is bound already. */
export interface Conflict {
  readonly kind: "conflict";
  /** The server's own sentence, for log lines; which conflict it was is found out by reading again. */
  readonly message: string;
}

/** Any other 4xx (400, 403, 413, 422, 429 …): certain not to have taken effect. */
export interface Rejected {
  readonly kind: "rejected";
  readonly status: number;
  readonly message: string;
}

/** Timeouts, resets, 5xx, a body that cannot be read: a write may have taken effect, or may still do so later. */
export interface Unknown {
  readonly kind: "unknown";
  readonly message: string;
}

/** An object as the API server holds it now. */
export interface Found {
  readonly kind: "found";
  readonly object: JsonObject;
}

/** The answer to a GET of one object. Reads answered with another 4xx than 404 are `unknown` too: nothing was learned. */
export type ReadOutcome = Found | Gone | Unknown;

/** The pods whose `spec.nodeName` is the node asked for, terminal ones included. */
export interface PodsFound {
  readonly kind: "pods";
  readonly pods: readonly JsonObject[];
}

/** One Binding: the only write that assigns a pod, together with every annotation it shall carry. */
export interface BindingOrder extends PodRef {
  /** `metadata.uid` of the Binding: the API server refuses it for another pod of the same name. */
  readonly uid: string;
  /**
   * `metadata.resourceVersion` of the Binding: the API server refuses it once the pod has changed. Absent for pods
   * that ask for no device. Honoured by kube-apiserver 1.34 to 1.37 (pkg/registry/core/pod/storage, assignPod).
   */
  readonly resourceVersion?: string;
  readonly nodeName: string;
  /** Merged into the pod by the API server in the same write that sets `spec.nodeName`. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** What became of a Binding. Judged by the HTTP status alone: the server answers a Status, not a Binding. */
export type BindingOutcome = { readonly kind: "bound" } | Conflict | Gone | Rejected | Unknown;

/** A pod's annotation `berth.dev/revoked`, written under the UID and resourceVersion that showed the pod unbound. */
export interface RevocationOrder extends PodRef {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly claimId: string;
}

/** What became of a revocation: once `patched`, every Binding with an older resourceVersion is refused. */
export type RevocationOutcome = { readonly kind: "patched" } | Conflict | Gone | Rejected | Unknown;

/** What became of a write to a ledger; `object` is the ledger as stored, with its new resourceVersion. */
export type WriteOutcome =
  | { readonly kind: "written"; readonly object: JsonObject }
  | Conflict
  | Gone
  | Rejected
  | Unknown;

/** The pods, as the protocol reads and writes them. */
export interface PodPort {
  /** GET of one pod. */
  readPod(pod: PodRef): Promise<ReadOutcome>;
  /** LIST of all pods with `spec.nodeName` = the node (field selector), in all namespaces and all pages. */
  listPodsOnNode(nodeName: string): Promise<PodsFound | Unknown>;
  /** POST to `pods/{name}/binding`, tried once: a lost answer is `unknown` and never tried again in here. */
  postBinding(order: BindingOrder): Promise<BindingOutcome>;
  /** Merge patch of `metadata` with `uid`, `resourceVersion` and the annotation `berth.dev/revoked`, tried once. */
  markRevoked(order: RevocationOrder): Promise<RevocationOutcome>;
}

/** The ledgers (`nodeledgers.berth.dev`), one cluster-scoped object per node and named like it. */
export interface LedgerPort {
  readLedger(nodeName: string): Promise<ReadOutcome>;
  /** POST; `conflict` when a ledger of the name exists. */
  createLedger(object: JsonObject): Promise<WriteOutcome>;
  /** PUT of the whole object, which carries `metadata.resourceVersion`; tried once. */
  updateLedger(object: JsonObject): Promise<WriteOutcome>;
}

/** The time, twice: the wall clock for stamps that others read, a clock that never jumps for waiting. */
export interface Clock {
  /** Milliseconds since 1970. May jump in both directions. */
  now(): number;
  /** Milliseconds since some moment in the past of this process. Never falls, never jumps. */
  elapsed(): number;
}
