/** How much a line matters. */
export type Level = "info" | "warn" | "error";

/** Writes one structured line. Fields never hold a secret, a credential or a URL that may carry one. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, unknown>>) => void;

/**
 * A log of JSON lines: `{"time":…,"level":…,"message":…,…}`, one a line, control characters escaped.
 *
 * @param write takes a line without its end
 * @param now milliseconds since 1970
 */
export function jsonLines(write: (line: string) => void, now: () => number): Log {
  return (level, message, fields = {}) => {
    write(JSON.stringify({ time: new Date(now()).toISOString(), level, message, ...fields }));
  };
}
