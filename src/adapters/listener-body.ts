import { finished, type Readable } from "node:stream";
import type { Pour, Take } from "../extender/body.ts";
import type { ListenerEnv } from "./listener-requests.ts";

/**
 * Takes a body as Node hands it out, without a promise for each of its thousand chunks. Whoever stops taking leaves the
 * connection to the listener, which decides what becomes of it.
 */
export const listenerPour: Pour = (_, env, take) => pourIncoming((env as ListenerEnv).incoming, take);

function pourIncoming(incoming: Readable, take: Take): Promise<void> {
  return new Promise((resolve, reject) => {
    const unwatch = finished(incoming, { writable: false }, (error) => settle(error));
    const onData = (chunk: Uint8Array) => {
      if (take(chunk)) return;
      incoming.pause();
      settle();
    };
    const settle = (error?: Error | null) => {
      incoming.off("data", onData);
      unwatch();
      if (error) reject(error);
      else resolve();
    };
    incoming.on("data", onData);
  });
}
