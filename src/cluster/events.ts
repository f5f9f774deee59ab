import type { Failure } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { createEventMemory, type Remembered } from "./event-memory.ts";
import type { EventDraft, Reporter } from "./event-object.ts";
import { writeEvent } from "./event-write.ts";
import { complainer, type Warn } from "./listeners.ts";
import { backoffDelay, pause, systemTiming, type Timing } from "./timing.ts";
import { createWorkQueue } from "./work-queue.ts";

/** How events are recorded. */
export interface EventRecorderOptions extends Reporter {
  readonly connection: Connection;
  /** An event that has not happened for so long, in milliseconds, begins anew. Default: ten minutes. */
  readonly window?: number;
  /** Repetitions are written at most so often for one event, in milliseconds. Default: ten seconds. */
  readonly settle?: number;
  /** Most events that wait to be written; further ones are counted and lost. Default 1,000. */
  readonly queueLimit?: number;
  /** Most tries for one write that nobody has refused, with pauses of up to four seconds. Default 3. */
  readonly tries?: number;
  readonly timing?: Timing;
  readonly warn?: Warn;
}

/** How recording goes, for metrics. */
export interface EventRecorderState {
  /** Events, and counts of repetitions, that were written. */
  readonly sent: number;
  /** Repetitions that were added to an event instead of becoming one. */
  readonly aggregated: number;
  /** Waiting to be written. */
  readonly queued: number;
  /** What was lost, by the server's reason, or `timeout`, `reset`, `server`, `QueueFull`, `Stopped`, `Malformed`. */
  readonly failed: Readonly<Record<string, number>>;
}

/** Writes events in the background: whoever records one neither waits nor fails. */
export interface EventRecorder {
  /** Never throws. */
  record(draft: EventDraft): void;
  state(): EventRecorderState;
  /** Takes no more events, and writes those that wait, within so many milliseconds. Default 5,000. */
  stop(within?: number): Promise<void>;
}

/** Writers at work at the same time: events come as fast as pods are bound. */
const WRITERS = 8;
const BACKOFF = { first: 1_000, most: 4_000 };
const REMEMBERED = 4_096;

/**
 * Starts a recorder of events.k8s.io/v1, the API that kube-scheduler writes its own events with: together they make one
 * story in `kubectl describe`, the server checks what it is sent, and repetitions have a place of their own.
 */
export function startEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { timing = systemTiming, window = 600_000, settle = 10_000, queueLimit = 1_000, tries: most = 3 } = options;
  const counts = { sent: 0, aggregated: 0 };
  const failed = new Map<string, number>();
  const givingUp = new AbortController();
  const complain = complainer(
    { resource: "events", timing, warn: options.warn ?? (() => undefined) },
    "An event is lost",
  );
  let stopped = false;

  const lose = (reason: string, message: string, times = 1): void => {
    if (times === 0) return;
    failed.set(reason, (failed.get(reason) ?? 0) + times);
    complain(message);
  };
  const tryToWrite = async ({ entry }: Remembered): Promise<void> => {
    for (let tries = 1; entry.written < entry.happened.count; tries++) {
      const failure = await writeEvent(options.connection, options, entry);
      if (failure === undefined) counts.sent++;
      else if (tries < most && isPassing(failure) && !givingUp.signal.aborted) {
        await pause(timing, backoffDelay(BACKOFF, tries, timing.random), givingUp.signal);
        continue;
      } else lose(labelOf(failure), failure.message);
      return;
    }
  };
  const work = (remembered: Remembered): Promise<void> =>
    tryToWrite(remembered).catch((error: unknown) => lose("Malformed", String(error)));
  const queue = createWorkQueue(work, { workers: WRITERS, limit: queueLimit });
  const write = (remembered: Remembered): void => {
    if (!queue.add(remembered)) lose("QueueFull", `${queueLimit} events wait to be written`);
  };
  const memory = createEventMemory({ timing, window, settle, most: REMEMBERED, write });
  return {
    record(draft) {
      try {
        if (stopped) lose("Stopped", "the recorder is stopped");
        else if (memory.note(draft)) counts.aggregated++;
      } catch (error) {
        lose("Malformed", String(error));
      }
    },
    state: () => ({ ...counts, queued: queue.waiting, failed: Object.fromEntries(failed) }),
    async stop(within = 5_000) {
      stopped = true;
      memory.flush();
      await Promise.race([queue.idle(), pause(timing, within, givingUp.signal)]);
      lose("Stopped", "the recorder is stopped", queue.clear());
      givingUp.abort();
    },
  };
}

/**
 * True for what may be gone a moment later. 403 is: an API server that has just started refuses everybody until it has
 * read the roles (seen on v1.37.2).
 */
function isPassing(failure: Failure): boolean {
  if (failure.kind === "unknown") return failure.cause !== "closed";
  return failure.status === 429 || failure.status === 403;
}

function labelOf(failure: Failure): string {
  if (failure.kind === "unknown") return failure.cause;
  return failure.reason === "" ? failure.kind : failure.reason;
}
