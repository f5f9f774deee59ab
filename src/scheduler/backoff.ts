import { createHeap } from "./heap.ts";

/** The pause after a failure, in milliseconds: kube-scheduler's defaults (backend/queue/scheduling_queue.go, v1.37.2). */
const FIRST = 1_000;
const MOST = 10_000;

/** How long a pod waits after so many failures in a row, in milliseconds: 1 s, 2 s, 4 s, 8 s, 10 s. */
export function backoffAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(MOST, FIRST * 2 ** (failures - 1));
}

/** Time, as waiting needs it. */
export interface QueueTiming {
  /** Milliseconds, never falling. */
  elapsed(): number;
  /** Runs something once after so many milliseconds; the answer takes that back. */
  after(ms: number, run: () => void): () => void;
}

/** Things that wait for a moment each. */
export interface WaitingRoom<T> {
  /** The item's `due` must not change while it is in here. */
  add(item: T): void;
  stop(): void;
}

/** @param leave called with each item when its moment has come */
export function createWaitingRoom<T extends { readonly due: number }>(
  timing: QueueTiming,
  leave: (item: T) => void,
): WaitingRoom<T> {
  const heap = createHeap<T>((one, other) => one.due < other.due);
  let cancel = (): void => undefined;
  const wait = (): void => {
    cancel();
    const next = heap.peek();
    if (next !== undefined) cancel = timing.after(Math.max(1, next.due - timing.elapsed()), rouse);
  };
  const rouse = (): void => {
    const now = timing.elapsed();
    for (let item = heap.peek(); item !== undefined && item.due <= now; item = heap.peek()) {
      heap.pop();
      leave(item);
    }
    wait();
  };
  return {
    add(item) {
      heap.push(item);
      if (heap.peek() === item) wait();
    },
    stop: () => cancel(),
  };
}
