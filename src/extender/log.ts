import type { Log } from "../policy/log.ts";

export type { Level, Log } from "../policy/log.ts";

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
