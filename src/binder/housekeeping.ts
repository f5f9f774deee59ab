import type { Log } from "../extender/log.ts";
import type { Cleaner, CleaningReport, LedgerView } from "../placement/cleaner.ts";
import type { PlacedNode } from "../placement/model.ts";
import type { Metrics } from "./metrics.ts";
import type { State } from "./state.ts";

/** What the leader does beside answering. */
export interface HousekeepingOptions {
  readonly state: State;
  readonly cleaner: Cleaner;
  /** Makes sure that a node has a ledger: a new one is closed for a while, better before the first pod comes. */
  openLedger(node: PlacedNode): Promise<unknown>;
  /** Only then is anything done. */
  isLeader(): boolean;
  /** Called after each round. */
  afterRound(): void;
  /** Nodes that can take more than before. */
  freed(nodes: readonly string[]): void;
  readonly metrics: Pick<Metrics, "claimsTaken">;
  readonly log: Log;
  /** Between rounds over all ledgers, in milliseconds. */
  readonly every: number;
}

/** The leader's loop. */
export interface Housekeeping {
  /** Milliseconds since the last round ended, or since the start; grows when rounds hang. */
  idleFor(now: number): number;
  stop(): Promise<void>;
}

/** Pods that end together are cleaned up after together. */
const GATHER_MS = 50;

/** New ledgers in one round. */
const LEDGERS_AT_ONCE = 50;

/** Begins to take away claims that are over: all in rounds, those of a pod that ends at once. */
export function startHousekeeping(options: HousekeepingOptions, elapsed: () => number): Housekeeping {
  const { state, isLeader, log } = options;
  const ended = new Set<string>();
  let lastRound = elapsed();
  let running = Promise.resolve();
  let gathering: NodeJS.Timeout | undefined;
  const clean = (names: () => Iterable<string>): Promise<void> => {
    running = running
      .then(async () => {
        if (isLeader()) await cleanNodes(options, names());
        options.afterRound();
        lastRound = elapsed();
      })
      .catch((error: unknown) => log("error", "the ledgers could not be cleaned", { error: String(error) }));
    return running;
  };
  const round = setInterval(() => void clean(() => allNodes(options)), options.every);
  state.pods.subscribe((pod, gone) => {
    if (!gone || pod.request === 0n) return;
    for (const name of nodesOf(state, pod.uid, pod.nodeName)) ended.add(name);
    gathering ??= setTimeout(() => {
      gathering = undefined;
      const names = [...ended];
      ended.clear();
      void clean(() => names);
    }, GATHER_MS);
  });
  return {
    idleFor: (now) => now - lastRound,
    async stop() {
      clearInterval(round);
      clearTimeout(gathering);
      await running;
    },
  };
}

/** A pod that was never bound may have been promised a device somewhere. */
function nodesOf(state: State, uid: string, nodeName: string): readonly string[] {
  if (nodeName !== "") return [nodeName];
  const holds = (name: string) => state.ledger(name)?.claims.some(({ podUid }) => podUid === uid) === true;
  return [...state.nodes.values()].map(({ name }) => name).filter(holds);
}

/** All nodes; those that have devices and no ledger get one. */
function allNodes({ state, openLedger }: HousekeepingOptions): readonly string[] {
  const nodes = [...state.nodes.values()];
  const without = nodes.filter(({ name, devices }) => devices.length > 0 && state.ledger(name) === undefined);
  for (const node of without.slice(0, LEDGERS_AT_ONCE)) void openLedger(node);
  return nodes.map(({ name }) => name);
}

async function cleanNodes({ state, cleaner, ...options }: HousekeepingOptions, names: Iterable<string>): Promise<void> {
  const views: LedgerView[] = [];
  for (const name of names) {
    const [node, ledger] = [state.nodes.get(name), state.ledger(name)];
    if (node !== undefined && ledger !== undefined) views.push({ node, ledger });
  }
  if (views.length > 0) tell(options, await cleaner.tick(views));
}

function tell(
  { metrics, log, freed }: Pick<HousekeepingOptions, "metrics" | "log" | "freed">,
  report: CleaningReport,
): void {
  const { ended, revoked, problems } = report;
  if (ended > 0) metrics.claimsTaken("ended", ended);
  if (revoked > 0) metrics.claimsTaken("revoked", revoked);
  if (ended + revoked > 0) log("info", "claims taken away", { ended, revoked, nodes: report.freed.length });
  for (const problem of problems) log("warn", "a claim could not be looked at", { problem });
  if (report.freed.length > 0) freed(report.freed);
}
