import type { JsonObject } from "../protocol/json.ts";
import type { Answer, Failure } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { type Hold, heldLease, newLease, type Observed, observe, releasedLease } from "./lease-record.ts";
import { collectionPath, LEASES, objectPath } from "./resources.ts";
import type { Timing } from "./timing.ts";

/** One candidate's view of one Lease. */
export interface Candidate {
  readonly connection: Pick<Connection, "call">;
  readonly timing: Timing;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** How long others have to leave the Lease alone, in whole seconds. */
  readonly seconds: number;
  /** Deadline of each call in milliseconds. */
  within(): number;
  /** The Lease as last seen; undefined before the first time. */
  known: Observed | undefined;
}

/** What came of an attempt to take or renew the Lease. */
export type Attempted =
  /** It is ours, and was not written by anybody else up to the moment `sentAt` (never-jumping clock) at least. */
  | { readonly kind: "held"; readonly sentAt: number }
  /** Somebody else holds it, and is alive as far as we can tell. */
  | { readonly kind: "following" }
  /** Somebody else was faster. */
  | { readonly kind: "raced" }
  | { readonly kind: "failed"; readonly message: string };

/**
 * Tries once. As in client-go (v0.37, tools/leaderelection, tryAcquireOrRenew): who holds it writes at once; everybody
 * else reads, and writes when the Lease is free, or has not changed for its own duration since we first saw it so.
 */
export async function attempt(candidate: Candidate): Promise<Attempted> {
  const { known, identity } = candidate;
  if (known?.holder === identity) {
    const renewed = await write(candidate, known);
    if (renewed.kind !== "raced") return renewed;
  }
  const read = await call(candidate, "GET");
  if (read.kind === "notFound") return isTaken(candidate) ? { kind: "following" } : create(candidate);
  if (read.kind !== "ok") return failed(read);
  const seen = see(candidate, read.object);
  if (seen === undefined) return unversioned(candidate);
  return isTaken(candidate) ? { kind: "following" } : write(candidate, seen);
}

/** Gives the Lease back, if it is still ours. A lost answer is not tried again: the Lease then runs out by itself. */
export async function release(candidate: Candidate): Promise<void> {
  for (let turn = 0; turn < 2 && candidate.known?.holder === candidate.identity; turn++) {
    const answer = await call(candidate, "PUT", releasedLease(candidate.known, candidate.timing.now()));
    if (answer.kind !== "conflict") return;
    const read = await call(candidate, "GET");
    if (read.kind !== "ok") return;
    see(candidate, read.object);
  }
}

/** True while another candidate may be leading: its Lease has changed less than the Lease's own duration ago. */
function isTaken({ known, identity, timing, seconds }: Candidate): boolean {
  if (known === undefined || known.holder === "" || known.holder === identity) return false;
  return timing.elapsed() < known.since + (known.duration || seconds * 1000);
}

/** A version seen before keeps the moment when it was first seen. */
function see(candidate: Candidate, object: JsonObject): Observed | undefined {
  const seen = observe(object, candidate.timing.elapsed());
  if (seen !== undefined && seen.version !== candidate.known?.version) candidate.known = seen;
  return seen;
}

async function create(candidate: Candidate): Promise<Attempted> {
  const sentAt = candidate.timing.elapsed();
  return conclude(candidate, sentAt, await call(candidate, "POST", newLease(candidate, hold(candidate))));
}

async function write(candidate: Candidate, observed: Observed): Promise<Attempted> {
  const sentAt = candidate.timing.elapsed();
  return conclude(candidate, sentAt, await call(candidate, "PUT", heldLease(observed, hold(candidate))));
}

function conclude(candidate: Candidate, sentAt: number, answer: Answer): Attempted {
  if (answer.kind === "conflict" || answer.kind === "notFound") return { kind: "raced" };
  if (answer.kind !== "ok") return failed(answer);
  return see(candidate, answer.object) === undefined ? unversioned(candidate) : { kind: "held", sentAt };
}

function hold({ identity, seconds, timing }: Candidate): Hold {
  return { identity, seconds, now: timing.now() };
}

function call(candidate: Candidate, method: "GET" | "POST" | "PUT", body?: JsonObject): Promise<Answer> {
  const { connection, namespace } = candidate;
  const path = method === "POST" ? collectionPath(LEASES, namespace) : objectPath(LEASES, candidate);
  return connection.call({ method, path, within: candidate.within(), ...(body !== undefined && { body }) });
}

function failed({ message }: Failure): Attempted {
  return { kind: "failed", message };
}

function unversioned({ namespace, name }: Candidate): Attempted {
  return { kind: "failed", message: `the Lease ${namespace}/${name} was answered without uid and resourceVersion` };
}
