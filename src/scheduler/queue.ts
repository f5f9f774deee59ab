import type { PlacedPod } from "../placement/model.ts";
import { backoffAfter, createWaitingRoom, type QueueTiming } from "./backoff.ts";
import { createHeap } from "./heap.ts";
import { asksTheSame, createdAt } from "./pods.ts";

/** A pod whose turn it is. */
export interface Waiting {
  readonly pod: PlacedPod;
  /** How often it was tried since it came, this time included. */
  readonly attempts: number;
  /** When it was first seen, in milliseconds of the queue's clock. */
  readonly since: number;
}

/** How many pods wait, and what for. */
export interface QueueSizes {
  readonly active: number;
  readonly backoff: number;
  readonly unfit: number;
  readonly taken: number;
}

/** The pods that wait for a node: those to be tried now, those that must wait a little, those that wait for a change. */
export interface Queue {
  /** A pod that is new or was seen again. One that is known and asks for nothing new stays where it is. */
  put(pod: PlacedPod): void;
  drop(uid: string): void;
  /** The pod to try next, by priority, then by age; it is in nobody's way until it has failed or is dropped. */
  take(): Waiting | undefined;
  /**
   * The pod found no node: it is tried again after its backoff, `unfit` only once something has changed that can help.
   * Without effect for a pod that was dropped meanwhile.
   */
  failed(uid: string, why: "unfit" | "error"): void;
  /** Whether the pod is being tried: judged, or being bound. */
  isTaken(uid: string): boolean;
  /** The pod was not tried after all: its turn comes again at once. */
  giveBack(uid: string): void;
  /** Something has changed that can help: whoever waits for a change is tried again, after its backoff. */
  wake(): void;
  sizes(): QueueSizes;
  stop(): void;
}

interface Entry {
  pod: PlacedPod;
  attempts: number;
  state: keyof QueueSizes;
  /** When it may be tried again, in milliseconds. */
  due: number;
  /** What had changed when it was taken, as a number. */
  seen: number;
  readonly since: number;
  readonly created: number;
  readonly order: number;
}

/** @param ready called when there is something to take */
export function createQueue(timing: QueueTiming, ready: () => void): Queue {
  const entries = new Map<string, Entry>();
  const turns = createTurns(entries, timing, ready);
  let [changes, order] = [0, 0];
  const add = (pod: PlacedPod): void => {
    const rest = { attempts: 0, state: "active", due: 0, seen: 0 } as const;
    const entry = { pod, ...rest, since: timing.elapsed(), created: createdAt(pod), order: order++ };
    entries.set(pod.uid, entry);
    turns.activate(entry);
  };
  const see = (entry: Entry, pod: PlacedPod): void => {
    const news = !asksTheSame(entry.pod, pod);
    entry.pod = pod;
    if (news && entry.state === "unfit") turns.retry(entry);
    if (news && entry.state === "taken") entry.seen = -1;
  };
  const taken = (uid: string, then: (entry: Entry) => void): void => {
    const entry = entries.get(uid);
    if (entry?.state === "taken") then(entry);
  };
  return {
    put: (pod) => {
      const known = entries.get(pod.uid);
      if (known === undefined) add(pod);
      else see(known, pod);
    },
    drop: (uid) => void entries.delete(uid),
    take() {
      const entry = turns.next();
      return entry && Object.assign(entry, { state: "taken", seen: changes, attempts: entry.attempts + 1 } as const);
    },
    failed: (uid, why) =>
      taken(uid, (entry) => {
        entry.due = timing.elapsed() + backoffAfter(entry.attempts);
        // What has changed while it was being tried may help it.
        if (why === "unfit" && entry.seen === changes) entry.state = "unfit";
        else turns.retry(entry);
      }),
    isTaken: (uid) => entries.get(uid)?.state === "taken",
    giveBack: (uid) => taken(uid, (entry) => turns.activate(Object.assign(entry, { attempts: entry.attempts - 1 }))),
    wake() {
      changes += 1;
      for (const entry of entries.values()) if (entry.state === "unfit") turns.retry(entry);
    },
    sizes: () => countStates(entries.values()),
    stop: turns.stop,
  };
}

/**
 * Who is next, of those that may be tried now or a little later. Entries are not looked for in heaps when they leave:
 * they are passed over when their turn comes.
 */
function createTurns(entries: ReadonlyMap<string, Entry>, timing: QueueTiming, ready: () => void) {
  const active = createHeap<Entry>(before);
  const stands = (entry: Entry, state: Entry["state"]) => entries.get(entry.pod.uid) === entry && entry.state === state;
  const activate = (entry: Entry): void => {
    entry.state = "active";
    active.push(entry);
    ready();
  };
  const backoff = createWaitingRoom<Entry>(timing, (entry) => {
    if (stands(entry, "backoff")) activate(entry);
  });
  return {
    activate,
    retry(entry: Entry): void {
      if (entry.due <= timing.elapsed()) {
        activate(entry);
      } else {
        entry.state = "backoff";
        backoff.add(entry);
      }
    },
    next(): Entry | undefined {
      let entry = active.pop();
      while (entry !== undefined && !stands(entry, "active")) entry = active.pop();
      return entry;
    },
    stop: backoff.stop,
  };
}

function countStates(entries: Iterable<Entry>): QueueSizes {
  const sizes = { active: 0, backoff: 0, unfit: 0, taken: 0 };
  for (const { state } of entries) sizes[state] += 1;
  return sizes;
}

/** By priority, then age, then in the order in which they were first seen. */
function before(one: Entry, other: Entry): boolean {
  if (one.pod.priority !== other.pod.priority) return one.pod.priority > other.pod.priority;
  return one.created === other.created ? one.order < other.order : one.created < other.created;
}
