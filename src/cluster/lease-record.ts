import { field, type JsonObject } from "../protocol/json.ts";
import { metadataText } from "./metadata.ts";
import { microTime } from "./micro-time.ts";

/** A Lease as it was observed. Times written in it are by other machines' clocks and are never compared with ours. */
export interface Observed {
  readonly object: JsonObject;
  /** Tells one write of the Lease from every other. */
  readonly version: string;
  /** Empty when it is held by nobody. */
  readonly holder: string;
  /** For how long, after its last write, nobody else may take it; in milliseconds. 0 when it names none. */
  readonly duration: number;
  readonly transitions: number;
  /** When, by our clock that never jumps, we saw this version for the first time. */
  readonly since: number;
}

/** Reads a Lease (coordination.k8s.io/v1). Undefined for one without a version: it could not be written safely. */
export function observe(object: JsonObject, since: number): Observed | undefined {
  const version = `${metadataText(object, "uid")}/${metadataText(object, "resourceVersion")}`;
  if (version.endsWith("/")) return undefined;
  const spec = field(object, "spec");
  const holder = field(spec, "holderIdentity");
  return {
    object,
    version,
    holder: typeof holder === "string" ? holder : "",
    duration: count(field(spec, "leaseDurationSeconds")) * 1000,
    transitions: count(field(spec, "leaseTransitions")),
    since,
  };
}

function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

/** What the holder writes. */
export interface Hold {
  readonly identity: string;
  /** Whole seconds. */
  readonly seconds: number;
  /** Milliseconds since 1970; for people only. */
  readonly now: number;
}

/** A Lease that nobody has made yet. */
export function newLease({ namespace, name }: { readonly namespace: string; readonly name: string }, hold: Hold) {
  const spec = specOf(hold, { transitions: 0, acquired: microTime(hold.now) });
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace, name }, spec };
}

/** The Lease taken or renewed, under the version that was observed; whatever else it carries stays. */
export function heldLease(observed: Observed, hold: Hold): JsonObject {
  const before = field(field(observed.object, "spec"), "acquireTime");
  const same = observed.holder === hold.identity && typeof before === "string";
  const acquired = same ? before : microTime(hold.now);
  const transitions = observed.holder === hold.identity ? observed.transitions : observed.transitions + 1;
  return { ...observed.object, spec: specOf(hold, { transitions, acquired }) };
}

/** The Lease given back: held by nobody, so that the next one need not wait. */
export function releasedLease(observed: Observed, now: number): JsonObject {
  const { transitions } = observed;
  const spec = specOf({ identity: "", seconds: 1, now }, { transitions, acquired: microTime(now) });
  return { ...observed.object, spec };
}

/** Only what client-go writes too (v0.37, tools/leaderelection/resourcelock, LeaderElectionRecordToLeaseSpec). */
function specOf(hold: Hold, kept: { readonly transitions: number; readonly acquired: string }): JsonObject {
  return {
    holderIdentity: hold.identity,
    leaseDurationSeconds: hold.seconds,
    acquireTime: kept.acquired,
    renewTime: microTime(hold.now),
    leaseTransitions: kept.transitions,
  };
}
