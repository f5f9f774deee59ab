import type { Log } from "../extender/log.ts";
import { assignDevice } from "../placement/assign.ts";
import { isTerminating } from "../placement/placed.ts";
import type { State } from "./state.ts";

/** A node with this annotation changed makes kube-scheduler try the pods again that an extender has refused. */
export const WAKE_ANNOTATION = "berth.dev/wake";

/** At most one touch in so many milliseconds: each re-asks every pod that waits. */
const WAKE_EVERY = 1_000;

/** Pods that are looked at to tell whether one could profit. */
const LOOKED_AT = 200;

/** What waking needs. */
export interface WakingOptions {
  readonly state: State;
  isLeader(): boolean;
  /** Writes the annotation {@link WAKE_ANNOTATION} of a node; answers why not, or nothing. */
  touch(node: string): Promise<string | undefined>;
  readonly log: Log;
}

/** Tells kube-scheduler of room that only the binder sees: it would look again after five minutes. */
export interface Waker {
  /** Some nodes can take more than before. */
  freed(nodes: readonly string[]): void;
  /** This node is to be touched: somebody knows that a pod could profit. Whoever knows does it, leader or not. */
  wake(node: string): void;
  stop(): void;
}

export function createWaker(options: WakingOptions): Waker {
  const { state, isLeader, log } = options;
  const nodes = new Set<string>();
  let sure: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const wake = async (): Promise<void> => {
    const freed = [...nodes];
    nodes.clear();
    const useful = sure ?? (isLeader() ? freed.find((name) => couldProfit(state, name)) : undefined);
    sure = undefined;
    if (useful === undefined) return;
    const problem = await options.touch(useful);
    if (problem !== undefined) log("warn", "pods that wait could not be woken", { node: useful, problem });
    else log("info", "pods that wait were woken", { node: useful });
  };
  const begin = (): void => {
    void wake().catch((error: unknown) => log("error", "pods could not be woken", { error: String(error) }));
    timer = setTimeout(() => {
      timer = undefined;
      if (nodes.size > 0 || sure !== undefined) begin();
    }, WAKE_EVERY);
  };
  return {
    freed(names) {
      for (const name of names) nodes.add(name);
      if (timer === undefined) begin();
    },
    wake(node) {
      sure = node;
      if (timer === undefined) begin();
    },
    stop: () => clearTimeout(timer),
  };
}

function couldProfit(state: State, name: string): boolean {
  const node = state.nodes.get(name);
  if (node === undefined) return false;
  const waiting = state.pods.waiting().filter((pod) => !isTerminating(pod) && pod.problem === undefined);
  return waiting.slice(0, LOOKED_AT).some((pod) => "slot" in assignDevice(pod, node, state.usage(node, { for: pod })));
}
