/** Work of which each item is done by one worker at a time, and waits at most once. */
export interface WorkQueue<T> {
  /** False when the queue is full. An item that waits already is not added again; one that is being done waits anew. */
  add(item: T): boolean;
  readonly waiting: number;
  /** Resolves as soon as nothing waits and nothing is being done. */
  idle(): Promise<void>;
  /** Forgets what waits, and says how much that was. */
  clear(): number;
}

/** @param work must not reject */
export function createWorkQueue<T>(
  work: (item: T) => Promise<void>,
  { workers, limit }: { readonly workers: number; readonly limit: number },
): WorkQueue<T> {
  const waiting = new Set<T>();
  const active = new Set<T>();
  let onIdle: (() => void)[] = [];
  const next = (): T | undefined => {
    for (const item of waiting) if (!active.has(item)) return item;
    return undefined;
  };
  const start = (): void => {
    for (let item = next(); item !== undefined && active.size < workers; item = next()) {
      const mine = item;
      waiting.delete(mine);
      active.add(mine);
      void work(mine).finally(() => {
        active.delete(mine);
        start();
      });
    }
    if (waiting.size + active.size > 0) return;
    for (const call of onIdle.splice(0)) call();
  };
  return {
    add(item) {
      if (!waiting.has(item) && waiting.size >= limit) return false;
      waiting.add(item);
      start();
      return true;
    },
    get waiting() {
      return waiting.size;
    },
    idle: () =>
      new Promise((resolve) => {
        onIdle = [...onIdle, resolve];
        start();
      }),
    clear() {
      const lost = waiting.size;
      waiting.clear();
      start();
      return lost;
    },
  };
}
