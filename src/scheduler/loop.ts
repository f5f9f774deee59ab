import type { EventDraft } from "../cluster/event-object.ts";
import { pause, systemTiming } from "../cluster/timing.ts";
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
import { failedSchedulingEvent } from "./reasons.ts";

/** What placing pods works with. */
export interface LoopOptions {
  readonly queue: Queue;
  readonly cluster: Cluster;
  /** Rung when there may be something to do. */
  readonly bell: Bell;
  /** Whether pods may be placed now: this process leads, and has read the whole cluster. */
  mayPlace(): boolean;
  choose(pod: PlacedPod): Promise<Choice>;
  /** @param leaving aborted when nobody waits for what came of it any more */
  bind(pod: PlacedPod, choice: Chosen, leaving: AbortSignal): Promise<Bound>;
  record(event: EventDraft): void;
  readonly late: LateBindings;
  readonly tellCondition: TellCondition;
  readonly metrics: Pick<Metrics, "attempt" | "bound">;
  /** Milliseconds, never falling. */
  elapsed(): number;
  /** Binds that are under way are waited for so long in the end, in milliseconds. Default 10,000. */
  readonly leaveAfter?: number;
  readonly log: Log;
}

type Chosen = Extract<Choice, { readonly kind: "node" }>;

/** Binds under way at a time: the scheduling goes on meanwhile. */
const BINDS_AT_ONCE = 32;

/** So long pods are placed in one go before the program looks at what has come in, in milliseconds. */
const BREATH = 5;

/** Binds that are under way are waited for so long when the program ends, in milliseconds: it is killed after 30 s. */
const LEAVE_AFTER = 10_000;

/** A decision, or a turn while pods wait for theirs, takes milliseconds; after so many of them the loop is stuck. */
const STUCK = 120_000;

/** The loop that places pods. */
export interface Loop {
  /** What shows that it makes no progress, a sentence each. That binds wait for the API server does not. */
  problems(): readonly string[];
  /** Ends the loop, and waits for the binds that are under way, but not for ever: the log names those left open. */
  stop(): Promise<void>;
}

/** Places the pods of the queue, one decision at a time, while their binds run beside each other. */
export function startLoop(options: LoopOptions): Loop {
  const { queue, bell, elapsed } = options;
  const binds = new Map<Promise<void>, PlacedPod>();
  const leaving = new AbortController();
  let [stopped, turn, deciding] = [false, elapsed(), false];
  const isFree = (): boolean => options.mayPlace() && binds.size < BINDS_AT_ONCE;
  const next = (): Waiting | undefined => (isFree() ? queue.take() : undefined);
  const begin = (waiting: Waiting, choice: Chosen): void => {
    const bind = bindAndTell(options, { waiting, choice, leaving: leaving.signal }).finally(() => {
      binds.delete(bind);
      bell.ring();
    });
    binds.set(bind, waiting.pod);
  };
  const run = async (): Promise<void> => {
    let started = elapsed();
    while (!stopped) {
      const waiting = next();
      turn = elapsed();
      deciding = waiting !== undefined;
      if (waiting === undefined) await bell.wait();
      else await place(options, waiting, begin);
      if (elapsed() - started < BREATH) continue;
      await new Promise((resolve) => setImmediate(resolve));
      started = elapsed();
    }
  };
  const running = run();
  return {
    problems() {
      const ago = elapsed() - turn;
      if (stopped || ago <= STUCK) return [];
      if (deciding) return [`the decision about a pod has not ended for ${Math.round(ago / 1000)} s`];
      const waits = isFree() && queue.sizes().active > 0;
      return waits ? [`pods wait for their turn and none was taken for ${Math.round(ago / 1000)} s`] : [];
    },
    async stop() {
      stopped = true;
      bell.ring();
      const ended = running.then(() => Promise.all(binds.keys()));
      await Promise.race([ended, pauseUnless(ended, options.leaveAfter ?? LEAVE_AFTER)]);
      leaving.abort();
      if (binds.size > 0) tellLeft(options.log, [...binds.values()]);
    },
  };
}

/** Waits so long, or until the other thing has ended: then no timer keeps the program alive. */
function pauseUnless(ended: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  void ended.finally(() => over.abort());
  return pause(systemTiming, ms, over.signal);
}

/** Bindings that may still take effect: the next leader sees that, and tells of no pod that it has not bound itself. */
function tellLeft(log: Log, pods: readonly PlacedPod[]): void {
  log("warn", "ended before it was known what came of these Bindings; they may have taken effect", {
    count: pods.length,
    pods: pods.map(fullName),
  });
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

/**
 * Tells why a pod has no node, and sees to it that it is tried again. Who leads no more tells nothing: it is the next
 * leader's pod by now, and on a node perhaps.
 */
function failed(
  { queue, mayPlace, record, tellCondition, log }: LoopOptions,
  pod: PlacedPod,
  { kind, message }: { readonly kind: "unfit" | "fault"; readonly message: string },
): void {
  queue.failed(pod.uid, kind === "unfit" ? "unfit" : "error");
  if (!mayPlace()) return;
  record(failedSchedulingEvent(pod, message));
  void tellCondition(pod, kind === "unfit" ? "Unschedulable" : "SchedulerError", message).then((problem) => {
    if (problem !== undefined) log("warn", "a pod's condition could not be written", { pod: fullName(pod), problem });
  });
}

async function bindAndTell(
  options: LoopOptions,
  { waiting, choice, leaving }: { readonly waiting: Waiting; readonly choice: Chosen; readonly leaving: AbortSignal },
): Promise<void> {
  const { queue, cluster, late, metrics, elapsed, log } = options;
  const [{ pod }, { node }] = [waiting, choice];
  const started = elapsed();
  const bound = await options.bind(pod, choice, leaving).catch((error: unknown): Bound => {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error), over: false };
  });
  const seconds = (elapsed() - started) / 1000;
  const fields = { pod: fullName(pod), uid: pod.uid, node: node.name };
  if (bound.kind === "bound") {
    queue.drop(pod.uid);
    metrics.bound("bound", { bind: seconds, whole: (elapsed() - waiting.since) / 1000 });
    log("info", bound.ours ? "bound" : "was bound already", fields);
    if (bound.ours) late.confirmed(pod, node.name, bound.claim);
    return;
  }
  // Nobody knows what came of it, and the log has said so.
  if (leaving.aborted) return;
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
