import type { JsonObject } from "../protocol/json.ts";

/** What placement has to know of a pod. Everything else about it stays in `object`, for the views of the policy. */
export interface PlacedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Empty while the pod is not bound. */
  readonly nodeName: string;
  readonly priority: number;
  /** True in phase Succeeded or Failed: it holds nothing any more. A terminating pod still holds its device. */
  readonly terminal: boolean;
  /** Device memory that the pod asks for, in the cluster's own unit; 0 for a pod that asks for none. */
  readonly request: bigint;
  /** Why no node can serve its device request, in words: such a pod is refused, not bound without a device. */
  readonly problem?: string;
  /** The device its annotations name; absent for a pod that reached its node without them. */
  readonly assigned?: {
    readonly device: string;
    readonly amount: bigint;
    /** Unix time in nanoseconds from its annotation; absent where that is missing or no number. */
    readonly assumeTime?: bigint;
  };
  /** The node that preemption has nominated it to. */
  readonly nominatedNode?: string;
  /** The claim that somebody has revoked, from its annotation. */
  readonly revoked?: string;
  readonly object: JsonObject;
}

/** A device's place in a node, as the node itself reports it. */
export interface DeviceSlot {
  readonly id: string;
  readonly total: bigint;
  readonly healthy: boolean;
}

/** What placement has to know of a node. */
export interface PlacedNode {
  readonly name: string;
  readonly uid: string;
  /** Its devices, in the order of their ids; empty for a node without any. */
  readonly devices: readonly DeviceSlot[];
  readonly object: JsonObject;
}

/**
 * A device promised to a pod before the API server has bound it. A claim lives until its pod is gone, terminal, has
 * another UID, or the claim is revoked.
 */
export interface Claim {
  /** Unique among all claims ever made: a random UUID. */
  readonly id: string;
  readonly podUid: string;
  readonly namespace: string;
  readonly podName: string;
  readonly device: string;
  readonly amount: bigint;
  /** Unix time in nanoseconds, strictly increasing on one node. */
  readonly assumeTime: bigint;
  /** Milliseconds since 1970 by the clock of the binder that made it; for people and the cleaner. */
  readonly claimedAt: number;
}

/** The claims of one node as the API server holds them. */
export interface Ledger {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly resourceVersion: string;
  /** Changes whenever the ledger had to be made anew without knowing what it held before. */
  readonly epoch: string;
  /** No device may be bound here before this time, in milliseconds since 1970. 0: at once. */
  readonly closedUntil: number;
  readonly lastAssumeTime: bigint;
  readonly claims: readonly Claim[];
}
