const LOOK_MS = 250;

/**
 * Aborts when this process is asked to end: by SIGINT (Ctrl-C), SIGTERM or SIGHUP, with the signal as the reason.
 * npm passes signals to the shell between it and this process, and that shell dies of a SIGTERM without passing it on:
 * under npm the end of the parent counts as a SIGTERM. A SIGINT the shell keeps to itself, so `npm start` has none
 * between (`exec` in package.json).
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort(signal));
  if (process.env["npm_lifecycle_event"] !== undefined) {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid !== parent) stop.abort("SIGTERM");
    }, LOOK_MS);
    timer.unref();
  }
  return stop.signal;
}
