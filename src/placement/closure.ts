import type { Ledger } from "./model.ts";
import type { Clock } from "./ports.ts";

/**
 * How long a ledger made anew stays closed to device binds, in milliseconds: longer than any Binding posted under a
 * claim of the lost ledger can take to arrive (a request ends after 60 s in kube-apiserver).
 */
export const CLOSED_FOR = 75_000;

/** Tells when closed ledgers may be opened. */
export interface Closures {
  /** True when the ledger is open, or was closed for long enough. */
  over(ledger: Ledger): boolean;
}

/**
 * Watches closed ledgers by the clock that never jumps: what is left of a closure is read from the wall clock once,
 * when this process sees it first, and is never more than `closedFor`. A wall clock that jumps later opens nothing
 * early and keeps nothing closed.
 */
export function createClosures(clock: Clock, closedFor: number): Closures {
  const opensAt = new Map<string, { epoch: string; elapsed: number }>();
  return {
    over(ledger) {
      if (ledger.closedUntil === 0) {
        opensAt.delete(ledger.nodeName);
        return true;
      }
      let opens = opensAt.get(ledger.nodeName);
      if (opens?.epoch !== ledger.epoch) {
        const left = Math.min(Math.max(ledger.closedUntil - clock.now(), 0), closedFor);
        opens = { epoch: ledger.epoch, elapsed: clock.elapsed() + left };
        opensAt.set(ledger.nodeName, opens);
      }
      return clock.elapsed() >= opens.elapsed;
    },
  };
}
