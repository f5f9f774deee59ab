import type { Log } from "../extender/log.ts";
import type { PlacedNode } from "../placement/model.ts";
import type { Devices } from "../policy/views/devices.ts";
import { devicesToPublish, publishedDevices, sameDevices } from "./published.ts";
import type { State } from "./state.ts";

/** A change is written so long after it, in milliseconds: what follows it closely goes out with it. */
const SETTLE_MS = 500;

/** Between two writes, in milliseconds: at most 20 nodes a second. */
const BETWEEN_MS = 50;

/** What publishing needs. */
export interface PublishingOptions {
  readonly state: State;
  isLeader(): boolean;
  /** Writes the condition of a node; answers why not, or nothing. */
  publish(node: string, devices: Devices): Promise<string | undefined>;
  readonly log: Log;
}

/** Tells on each node who holds its devices, for functions that see nodes and no pods. Nothing is decided by it here. */
export interface Publisher {
  /** Looks at all nodes; to be called now and then. */
  review(): void;
  stop(): void;
}

/** Follows the pods, and writes while this process leads. */
export function startPublishing(options: PublishingOptions): Publisher {
  const { state, isLeader } = options;
  const due = new Set<string>();
  const written = new Map<string, Devices>();
  let timer: NodeJS.Timeout | undefined;
  const next = async (): Promise<void> => {
    for (const name of due) {
      due.delete(name);
      const node = isLeader() ? state.nodes.get(name) : undefined;
      if (node !== undefined && (await publishNode(options, node, written))) break;
    }
  };
  const schedule = (ms: number): void => {
    timer ??= setTimeout(async () => {
      await next();
      timer = undefined;
      if (due.size > 0) schedule(BETWEEN_MS);
    }, ms);
  };
  const mark = (name: string): void => {
    if (!isLeader()) return;
    due.add(name);
    schedule(SETTLE_MS);
  };
  state.pods.subscribe((pod) => {
    if (pod.request > 0n && pod.nodeName !== "") mark(pod.nodeName);
  });
  state.nodes.onDevices((node) => mark(node.name));
  state.nodes.onGone((name) => void written.delete(name));
  return {
    review() {
      for (const { name } of state.nodes.values()) mark(name);
    },
    stop: () => clearTimeout(timer),
  };
}

/** True when something was sent. */
async function publishNode(
  { state, publish, log }: PublishingOptions,
  node: PlacedNode,
  written: Map<string, Devices>,
): Promise<boolean> {
  const seen = publishedDevices(node);
  if (node.devices.length === 0 && !("value" in seen)) return false;
  // The watch may not have brought back yet what was written last.
  const before = newest("value" in seen ? seen.value : undefined, written.get(node.name));
  const now = devicesToPublish(state, node);
  if (before !== undefined && sameDevices(before, now)) return false;
  const devices = { ...now, generation: (before?.generation ?? 0) + 1 };
  const problem = await publish(node.name, devices);
  if (problem === undefined) written.set(node.name, devices);
  else log("warn", "the devices of a node could not be published", { node: node.name, problem });
  return true;
}

function newest(one: Devices | undefined, other: Devices | undefined): Devices | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.generation >= other.generation ? one : other;
}
