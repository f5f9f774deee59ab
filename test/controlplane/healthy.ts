import { type RunningProcess, waitUntilUp } from "./process.ts";
import { type Connection, fetchText } from "./transport.ts";

/** Waits until the process answers `/healthz` with 200. Throws as {@link waitUntilUp} does. */
export function waitUntilHealthy(process: RunningProcess, connection: Connection): Promise<void> {
  return waitUntilUp(process, async () => (await fetchText(connection, "/healthz")).status === 200);
}
