/** Something to wait for, rung by whoever has news. */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, or at once when it rang since the last time somebody waited. For one who waits at a time. */
  wait(): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait() {
      if (!rung) await new Promise<void>((resolve) => (wake = resolve));
      rung = false;
      wake = undefined;
    },
  };
}
