/** Names that were waited for in vain and are remembered, at most; the oldest go first. */
const MISSED = 10_000;

/** Those who wait for an object to become known, by a name that is its alone. */
export interface Arrivals {
  /** Resolves when the object has come, or after so many milliseconds. */
  wait(name: string, ms: number): Promise<void>;
  /** The object is known now. */
  came(name: string): void;
  /** Hears the name of every object that comes after somebody has waited for it in vain. */
  onLate(hear: (name: string) => void): void;
}

export function createArrivals(): Arrivals {
  const waiting = new Map<string, Set<() => void>>();
  const missed = new Set<string>();
  const late = new Set<(name: string) => void>();
  return {
    wait: (name, ms) =>
      new Promise((resolve) => {
        const waiters = waiting.get(name) ?? new Set<() => void>();
        waiting.set(name, waiters);
        const done = (): void => {
          clearTimeout(timer);
          waiters.delete(done);
          if (waiters.size === 0) waiting.delete(name);
          resolve();
        };
        const inVain = (): void => {
          missed.add(name);
          for (const oldest of missed) if (missed.size > MISSED) missed.delete(oldest);
          done();
        };
        const timer = setTimeout(inVain, ms);
        waiters.add(done);
      }),
    came(name) {
      for (const arrived of waiting.get(name) ?? []) arrived();
      if (missed.delete(name)) for (const hear of late) hear(name);
    },
    onLate: (hear) => void late.add(hear),
  };
}
