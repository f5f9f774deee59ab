import { createCleaner } from "../placement/cleaner.ts";
import type { FollowedLedgers } from "../placement/followed-ledgers.ts";
import { ensureLedger, type Lanes } from "../placement/lanes.ts";
import type { ProtocolContext } from "../placement/ledger-store.ts";
import type { PlacedPod } from "../placement/model.ts";
import type { Log } from "../policy/log.ts";
import type { Cluster, KnownNode } from "./cluster.ts";

/** What looking after ledgers needs. */
export interface CleaningOptions {
  readonly cluster: Cluster;
  readonly ledgers: FollowedLedgers;
  readonly context: ProtocolContext;
  readonly lanes: Lanes;
  /** The pod of this UID as the watch has shown it. */
  seen(uid: string): PlacedPod | undefined;
  /** Only then is anything done. */
  isLeading(): boolean;
  /** Some node can take more than before. */
  freed(): void;
  readonly log: Log;
}

/** Looks after the ledgers of nodes with devices, as a binder does; both may, at the same time. */
export interface Cleaning {
  /** A pod with a device of this node has ended. */
  ended(node: string): void;
  /** Milliseconds since the last round ended, or since the start; grows when rounds hang. */
  idleFor(): number;
  stop(): Promise<void>;
}

/** Between rounds over all ledgers, in milliseconds. */
const EVERY = 5_000;
/** Pods that end together are cleaned up after together. */
const GATHER = 50;
/** New ledgers in one round. */
const LEDGERS_AT_ONCE = 50;

/** Takes away claims that are over: all in rounds, those of a pod that ends at once. Makes ledgers that are missing. */
export function startCleaning(options: CleaningOptions): Cleaning {
  const { cluster, log } = options;
  const cleaner = createCleaner(options);
  const due = new Set<string>();
  let gathering: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let lastEnd = performance.now();
  const clean = async (names: readonly string[]): Promise<void> => {
    const nodes = names.map((name) => cluster.get(name)).filter((entry) => entry?.node !== undefined) as KnownNode[];
    if (!options.isLeading()) return;
    const views = nodes.flatMap(({ node }) => {
      const ledger = options.ledgers.ledger(node.name);
      return ledger === undefined ? [] : [{ node, ledger }];
    });
    const report = await cleaner.tick(views);
    for (const problem of report.problems) log("warn", "a claim could not be looked at", { problem });
    if (report.freed.length > 0) options.freed();
  };
  const enqueue = (names: () => readonly string[]): void => {
    const failed = (error: unknown) => log("error", "the ledgers could not be cleaned", { error: String(error) });
    running = running
      .then(() => clean(names()))
      .catch(failed)
      .then(() => {
        lastEnd = performance.now();
      });
  };
  const round = setInterval(() => {
    open(options);
    enqueue(() => withDevices(cluster).map(({ name }) => name));
  }, EVERY);
  return {
    ended(node) {
      due.add(node);
      gathering ??= setTimeout(() => {
        gathering = undefined;
        const names = [...due];
        due.clear();
        enqueue(() => names);
      }, GATHER);
    },
    idleFor: () => performance.now() - lastEnd,
    async stop() {
      clearInterval(round);
      clearTimeout(gathering);
      await running;
    },
  };
}

/** A ledger that is missing is not an empty one: it is made closed, better before the first pod comes. */
function open({ cluster, ledgers, lanes, isLeading }: CleaningOptions): void {
  if (!isLeading()) return;
  const without = withDevices(cluster).filter(({ name }) => ledgers.ledger(name) === undefined);
  for (const { node } of without.slice(0, LEDGERS_AT_ONCE)) void ensureLedger(lanes, node);
}

function withDevices(cluster: Cluster): readonly KnownNode[] {
  return cluster.nodes().filter(({ node }) => node.devices.length > 0);
}
