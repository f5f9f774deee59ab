import type { EventDraft } from "./event-object.ts";
import { type Entry, eventKey, newEntry } from "./event-write.ts";
import type { Timing } from "./timing.ts";

/** An event that may repeat, and when its repetitions are written. */
export interface Remembered {
  readonly entry: Entry;
  /** By the clock that never jumps. */
  lastAt: number;
  /** Takes back that its repetitions are written later; undefined when there are none. */
  cancel: (() => void) | undefined;
}

/** What events have happened lately. */
export interface EventMemory {
  /** Takes note of an event; true when it is a repetition. */
  note(draft: EventDraft): boolean;
  /** Has repetitions written now that would have been written later. */
  flush(): void;
}

/** How long and how much is remembered. */
export interface EventMemoryOptions {
  readonly timing: Timing;
  /** An event that has not happened for so many milliseconds begins anew. */
  readonly window: number;
  /** Milliseconds from a repetition until it is written, with those that follow meanwhile. */
  readonly settle: number;
  /** Most events remembered; beyond that, the one that has not happened for the longest time is forgotten. */
  readonly most: number;
  /** Has an entry written as it is now. */
  write(remembered: Remembered): void;
}

export function createEventMemory({ timing, window, settle, most, write }: EventMemoryOptions): EventMemory {
  const events = new Map<string, Remembered>();
  const settleNow = (remembered: Remembered): void => {
    if (remembered.cancel === undefined) return;
    remembered.cancel();
    remembered.cancel = undefined;
    write(remembered);
  };
  const begin = (draft: EventDraft): Remembered => {
    const fresh = { entry: newEntry(draft, timing.now()), lastAt: timing.elapsed(), cancel: undefined };
    write(fresh);
    return fresh;
  };
  const repeat = (known: Remembered): Remembered => {
    const { happened } = known.entry;
    known.entry.happened = { ...happened, count: happened.count + 1, last: timing.now() };
    known.lastAt = timing.elapsed();
    known.cancel ??= timing.after(settle, () => settleNow(known));
    return known;
  };
  return {
    note(draft) {
      const key = eventKey(draft);
      const known = events.get(key);
      const again = known !== undefined && timing.elapsed() - known.lastAt < window;
      if (known !== undefined && !again) settleNow(known);
      // Set anew, so that the order of the map is the order in which events happened last.
      events.delete(key);
      events.set(key, again ? repeat(known) : begin(draft));
      for (const [oldest, forgotten] of events) {
        if (events.size <= most) break;
        events.delete(oldest);
        settleNow(forgotten);
      }
      return again;
    },
    flush() {
      for (const remembered of events.values()) settleNow(remembered);
    },
  };
}
