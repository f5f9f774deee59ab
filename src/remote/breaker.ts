/** Keeps questions from a function that does not answer, and finds out when it does again. */
export interface Breaker {
  /** True while nobody should ask. */
  isOpen(): boolean;
  /** A question was answered. */
  passed(): void;
  /** A question was not answered, or with something else than an answer. True when that has opened it. */
  failed(): boolean;
  stop(): void;
}

/** How a breaker behaves. */
export interface BreakerOptions {
  /** Asks something small; true when it was answered. Must not throw. */
  probe(): Promise<boolean>;
  /** The first answer after some that failed. */
  back(): void;
  /** Between probes, in milliseconds. Default 1,000: the function is used again well within five seconds. */
  readonly every?: number;
  /** So many failures one after another open it. Default 2. */
  readonly failures?: number;
}

/**
 * A circuit breaker that probes by itself. Those of libraries let one caller through to try, who then waits for the
 * whole deadline; here no pod ever waits for a function that is known to be away.
 */
export function createBreaker({ probe, back, every = 1_000, failures = 2 }: BreakerOptions): Breaker {
  let failed = 0;
  let timer: NodeJS.Timeout | undefined;
  const passed = (): void => {
    if (failed === 0) return;
    failed = 0;
    clearTimeout(timer);
    timer = undefined;
    back();
  };
  const later = (): void => {
    timer = setTimeout(async () => {
      timer = undefined;
      const answered = await probe();
      if (failed === 0 || timer !== undefined) return;
      if (answered) passed();
      else later();
    }, every);
    timer.unref();
  };
  return {
    isOpen: () => failed >= failures,
    passed,
    failed() {
      failed += 1;
      if (failed === 1) later();
      return failed === failures;
    },
    stop() {
      failed = Number.NEGATIVE_INFINITY;
      clearTimeout(timer);
    },
  };
}
