import type { LedgerNode } from "./ledger.ts";
import {
  createLedgerStore,
  type LedgerStore,
  type Opened,
  type ProtocolContext,
  type Unavailable,
} from "./ledger-store.ts";
import type { Ledger } from "./model.ts";

/** How often a group of edits is tried against a ledger that others change too. */
const TRIES = 5;

/** What an edit wants: another ledger, or (absent) to leave it as it is, and what to tell the one who asked. */
export interface Edited<T> {
  readonly ledger?: Ledger;
  readonly value: T;
}

/**
 * A change of a ledger as a function without effects: it is called again on what others have written meanwhile.
 * While `closed`, no claim may be added.
 */
export type Edit<T> = (ledger: Ledger, closed: boolean) => Edited<T>;

/** `done`: the edit's value, and the ledger is stored as the edit left it. */
export type Changed<T> = { readonly kind: "done"; readonly value: T } | Unavailable;

/** The one way to change ledgers: a queue per node, all edits that wait in one write. */
export interface Lanes {
  /** Rejects only with what the edit itself threw. */
  change<T>(node: LedgerNode, edit: Edit<T>): Promise<Changed<T>>;
  /** The ledger as this process last saw it; it may be out of date. */
  peek(nodeName: string): Ledger | undefined;
  /** Frees the memory kept for a node that is gone. */
  forget(nodeName: string): void;
}

interface Job {
  readonly edit: Edit<unknown>;
  readonly resolve: (changed: Changed<unknown>) => void;
  readonly reject: (fault: unknown) => void;
}

interface Lane {
  node: LedgerNode;
  waiting: Job[];
}

export function createLanes(context: ProtocolContext): Lanes {
  const store = createLedgerStore(context);
  const lanes = new Map<string, Lane>();

  const drain = async (lane: Lane): Promise<void> => {
    while (lane.waiting.length > 0) {
      const jobs = lane.waiting;
      lane.waiting = [];
      await settle(store, lane.node, jobs).catch((fault: unknown) => {
        for (const job of jobs) job.reject(fault);
      });
    }
    lanes.delete(lane.node.name);
  };

  return {
    change<T>(node: LedgerNode, edit: Edit<T>): Promise<Changed<T>> {
      const { promise, resolve, reject } = Promise.withResolvers<Changed<T>>();
      const job: Job = { edit, resolve: (changed) => resolve(changed as Changed<T>), reject };
      const busy = lanes.get(node.name);
      if (busy !== undefined) {
        busy.node = node;
        busy.waiting.push(job);
      } else {
        const lane: Lane = { node, waiting: [job] };
        lanes.set(node.name, lane);
        void drain(lane);
      }
      return promise;
    },
    peek: store.peek,
    forget: store.forget,
  };
}

/**
 * Sees to it that the node has a ledger that can be read, and that it shows the devices as they are now. To be called
 * when a node with devices appears or its devices change: the closing time of a ledger that was missing then passes
 * while the node gets ready.
 */
export function ensureLedger(lanes: Lanes, node: LedgerNode): Promise<Changed<undefined>> {
  return lanes.change(node, () => ({ value: undefined }));
}

/** Applies the jobs to the ledger in one write and answers each, opening it again while others get in between. */
async function settle(store: LedgerStore, node: LedgerNode, jobs: readonly Job[]): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const opened = await store.open(node);
    if (opened === "changed") continue;
    if ("kind" in opened) return answer(jobs, opened);
    if ((await attempt(store, { node, opened }, jobs)) === "answered") return;
  }
  const reason = `The ledger of node ${node.name} changes too fast, or the API server does not answer: try again`;
  answer(jobs, { kind: "unavailable", reason });
}

interface Situation {
  readonly node: LedgerNode;
  readonly opened: Opened;
}

async function attempt(store: LedgerStore, { node, opened }: Situation, jobs: readonly Job[]) {
  const applied = applyAll(opened, jobs);
  // A refusal by a ledger from memory may be out of date, and no write under its version would show it.
  if (applied.unchanged && !opened.fresh) {
    store.forget(node.name);
    return "again";
  }
  const needless = applied.ledger === opened.ledger && !opened.dirty;
  const written = needless ? opened.ledger : await store.write(applied.ledger, node);
  if (written === "changed") return "again";
  if ("kind" in written) answer(applied.jobs, written);
  else applied.answer();
  return "answered";
}

interface Applied {
  readonly ledger: Ledger;
  /** True when some edit left the ledger as it was. */
  readonly unchanged: boolean;
  readonly jobs: readonly Job[];
  answer(): void;
}

/** One edit after the other, each on what the ones before it made; one that throws is answered and left out. */
function applyAll(opened: Opened, jobs: readonly Job[]): Applied {
  let ledger = opened.ledger;
  let unchanged = false;
  const answers: { job: Job; value: unknown }[] = [];
  for (const job of jobs) {
    try {
      const edited = job.edit(ledger, opened.closed);
      unchanged ||= edited.ledger === undefined;
      ledger = edited.ledger ?? ledger;
      answers.push({ job, value: edited.value });
    } catch (fault) {
      job.reject(fault);
    }
  }
  return {
    ledger,
    unchanged,
    jobs: answers.map(({ job }) => job),
    answer: () => {
      for (const { job, value } of answers) job.resolve({ kind: "done", value });
    },
  };
}

function answer(jobs: readonly Job[], changed: Unavailable): void {
  for (const job of jobs) job.resolve(changed);
}
