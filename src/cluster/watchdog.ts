import type { Timing } from "./timing.ts";

/** What a watchdog looks at. */
export interface Watchdog {
  /** Milliseconds of silence after which it barks, once. */
  readonly staleAfter: number;
  /** When something was heard last, by the clock that never jumps. */
  heardAt(): number;
  bark(): void;
}

/** Barks once nothing has been heard for too long, unless it is sent away before. Costs nothing while things are heard. */
export function guard(timing: Timing, { staleAfter, heardAt, bark }: Watchdog): () => void {
  let cancel = (): void => undefined;
  const look = (): void => {
    const left = heardAt() + staleAfter - timing.elapsed();
    if (left <= 0) bark();
    else cancel = timing.after(left, look);
  };
  cancel = timing.after(staleAfter, look);
  return () => cancel();
}
