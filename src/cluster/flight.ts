/** One request under way, ended early by its deadline, its caller, or whoever closes the connection. */
export interface Flight {
  /** Aborted when it is ended early. Made when it is first asked for: most flights need none. */
  readonly signal: AbortSignal;
  /** Calls once when it is ended early, at once when it is already. The last one set counts. */
  whenEnded(call: () => void): void;
  /** Why it was ended early; undefined as long as nobody did. */
  ended(): "timeout" | "closed" | undefined;
  /** Takes the deadline away: what still comes may take its time. */
  calm(): void;
  /** Nothing more will come. */
  land(): void;
}

/** All requests under way. */
export interface Tower {
  takeOff(within: number, signal?: AbortSignal): Flight;
  /** Ends those under way and every later one. */
  close(): void;
}

/** @see Flight */
export function createTower(): Tower {
  const closing = new Set<() => void>();
  let closed = false;
  return {
    takeOff(within, signal) {
      let controller: AbortController | undefined;
      let hear = (): void => undefined;
      let why: "timeout" | "closed" | undefined;
      const end = (reason: "timeout" | "closed"): void => {
        if (why !== undefined) return;
        why = reason;
        controller?.abort();
        hear();
      };
      const stop = (): void => end("closed");
      const timer = setTimeout(() => end("timeout"), within);
      closing.add(stop);
      signal?.addEventListener("abort", stop);
      if (closed || signal?.aborted === true) stop();
      return {
        get signal() {
          controller ??= new AbortController();
          if (why !== undefined) controller.abort();
          return controller.signal;
        },
        whenEnded(call) {
          hear = call;
          if (why !== undefined) call();
        },
        ended: () => why,
        calm: () => clearTimeout(timer),
        land() {
          clearTimeout(timer);
          closing.delete(stop);
          signal?.removeEventListener("abort", stop);
        },
      };
    },
    close() {
      closed = true;
      for (const stop of [...closing]) stop();
    },
  };
}

/** The promise, or a rejection as soon as the signal is aborted; the promise is then on its own. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
