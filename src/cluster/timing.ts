import type { Clock } from "../placement/ports.ts";

/** Time and chance, as the cluster room needs them; tests give their own. */
export interface Timing extends Clock {
  /**
   * Runs something once after so many milliseconds; the answer takes that back. Until then it keeps the process alive:
   * while the API server is away, an informer's pause may be all that there is to wait for.
   */
  after(ms: number, run: () => void): () => void;
  /** A number from 0 up to, but not including, 1. */
  random(): number;
}

/** The machine's own clocks. `elapsed` goes on while the process is stopped, but not while the machine sleeps. */
export const systemTiming: Timing = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Resolves after so many milliseconds, or at once when the signal is or becomes aborted. Never rejects. */
export function pause(timing: Timing, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = timing.after(ms, done);
    signal.addEventListener("abort", done);
  });
}

/** How long to wait between attempts, in milliseconds. */
export interface Backoff {
  readonly first: number;
  readonly most: number;
}

/** The wait after so many failures in a row (1 = the first): doubled each time up to `most`, then cut by up to half. */
export function backoffDelay({ first, most }: Backoff, failures: number, random: () => number): number {
  const full = Math.min(most, first * 2 ** Math.min(failures - 1, 30));
  return full * (1 - random() / 2);
}
