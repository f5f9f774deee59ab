import type { EventDraft } from "../cluster/event-object.ts";
import type { PlacedPod } from "../placement/model.ts";
import type { Log } from "../policy/log.ts";
import type { Bell } from "./bell.ts";
import type { Bound } from "./bind.ts";
import type { Choice } from "./choose.ts";
import type { Cluster } from "./cluster.ts";
import type { TellCondition } from "./condition.ts";
import type { LateBindings } from "./late.ts";
import type { Metrics } from "./metrics.ts";
import { fullName } from "./pods.ts";
import type { Queue, Waiting } from "./queue.ts";
import { deviceAssignedEvent, failedSchedulingEvent } from "./reasons.ts";

/** What placing pods works with. */
export interface LoopOptions {
  readonly queue: Queue;
  readonly cluster: Cluster;
  /** Rung when there may be something to do. */
  readonly bell: Bell;
  /** Whether pods may be placed now: this process leads, and has read the whole cluster. */
  mayPlace(): boolean;
  choose(pod: PlacedPod): Promise<Choice>;
  bind(pod: PlacedPod, choice: Chosen): Promise<Bound>;
  record(event: EventDraft): void;
  readonly late: LateBindings;
  readonly tellCondition: TellCondition;
  readonly metrics: Pick<Metrics, "attempt" | "bound">;
  /** Milliseconds, never falling. */
  elapsed(): number;
  readonly log: Log;
}

type Chosen = Extract<Choice, { readonly kind: "node" }>;

/** Binds under way at a time: the scheduling goes on meanwhile. */
const BINDS_AT_ONCE = 32;

/** So long pods are placed in one go before the program looks at what has come in, in milliseconds. */
const BREATH = 5;

/** The loop that places pods. */
export interface Loop {
  /** Ends the loop, and waits for the binds that are under way. */
  stop(): Promise<void>;
}

/** Places the pods of the queue, one decision at a time, while their binds run beside each other. */
export function startLoop(options: LoopOptions): Loop {
  const { queue, bell, elapsed } = options;
  const binds = new Set<Promise<void>>();
  let stopped = false;
  const next = (): Waiting | undefined => (options.mayPlace() && binds.size < BINDS_AT_ONCE ? queue.take() : undefined);
  const begin = (pod: Waiting, choice: Chosen): void => {
    const bind = bindAndTell(options, pod, choice).finally(() => {
      binds.delete(bind);
      bell.ring();
    });
    binds.add(bind);
  };
  const run = async (): Promise<void> => {
    let started = elapsed();
    while (!stopped) {
      const waiting = next();
      if (waiting === undefined) await bell.wait();
      else await place(options, waiting, begin);
      if (elapsed() - started < BREATH) continue;
      await new Promise((resolve) => setImmediate(resolve));
      started = elapsed();
    }
  };
  const running = run();
  return {
    async stop() {
      stopped = true;
      bell.ring();
      await running;
      await Promise.all(binds);
    },
  };
}

async function place(
  options: LoopOptions,
  waiting: Waiting,
  begin: (waiting: Waiting, choice: Chosen) => void,
): Promise<void> {
  const { choose, cluster, queue, metrics, elapsed, log } = options;
  const { pod } = waiting;
  // What was seen of it is older than its Binding, as kube-scheduler knows too (`skipPodSchedule`, schedule_one.go).
  if (cluster.podOn(pod.uid) !== undefined) return queue.drop(pod.uid);
  const started = elapsed();
  const choice = await choose(pod).catch((error: unknown): Choice => {
    log("error", "a pod could not be judged", { pod: fullName(pod), error: String(error) });
    return { kind: "fault", message: error instanceof Error ? error.message : String(error) };
  });
  metrics.attempt(choice.kind, (elapsed() - started) / 1000);
  if (choice.kind === "node") {
    cluster.assume(pod, choice.node.name);
    begin(waiting, choice);
  } else {
    failed(options, pod, choice);
  }
}

/** Tells why a pod has no node, and sees to it that it is tried again. */
function failed(
  { queue, record, tellCondition, log }: Pick<LoopOptions, "queue" | "record" | "tellCondition" | "log">,
  pod: PlacedPod,
  { kind, message }: { readonly kind: "unfit" | "fault"; readonly message: string },
): void {
  queue.failed(pod.uid, kind === "unfit" ? "unfit" : "error");
  record(failedSchedulingEvent(pod, message));
  void tellCondition(pod, kind === "unfit" ? "Unschedulable" : "SchedulerError", message).then((problem) => {
    if (problem !== undefined) log("warn", "a pod's condition could not be written", { pod: fullName(pod), problem });
  });
}

async function bindAndTell(options: LoopOptions, waiting: Waiting, choice: Chosen): Promise<void> {
  const { queue, cluster, record, late, metrics, elapsed, log } = options;
  const [{ pod }, { node }] = [waiting, choice];
  const started = elapsed();
  const bound = await options.bind(pod, choice).catch((error: unknown): Bound => {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error), over: false };
  });
  const seconds = (elapsed() - started) / 1000;
  const fields = { pod: fullName(pod), uid: pod.uid, node: node.name };
  if (bound.kind === "bound") {
    queue.drop(pod.uid);
    metrics.bound("bound", { bind: seconds, whole: (elapsed() - waiting.since) / 1000 });
    log("info", bound.ours ? "bound" : "was bound already", fields);
    if (bound.claim !== undefined) record(deviceAssignedEvent(pod, node.name, bound.claim));
    if (bound.ours) late.confirmed(pod, node.name);
    return;
  }
  metrics.bound("failed", { bind: seconds });
  log("warn", "not bound", { ...fields, reason: bound.message });
  cluster.forget(pod.uid);
  // What it was given counts for others again.
  queue.wake();
  late.doubt(pod.uid);
  // Where no answer came, the watch may have known for long.
  const shown = cluster.podOn(pod.uid);
  if (shown !== undefined) late.shown(shown.pod);
  if (bound.over || shown !== undefined) queue.drop(pod.uid);
  else failed(options, pod, { kind: "fault", message: `binding rejected: ${bound.message}` });
}
