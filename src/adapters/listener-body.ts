import { finished } from "node:stream";
import type { Pour, Take } from "../extender/body.ts";
import type { ListenerEnv } from "./listener-requests.ts";

/**
 * Takes a body as Node hands it out, without a promise for each of its thousand chunks. Whoever stops taking leaves the
 * connection to the listener, which decides what becomes of it.
 */
export const listenerPour: Pour = (_, env, take) => pourIncoming((env as ListenerEnv).incoming, take);

function pourIncoming(incoming: ListenerEnv["incoming"], take: Take): Promise<void> {
  return new Promise((resolve, reject) => {
    const unwatch = finished(incoming, { writable: false }, (error) => settle(error));
    const onData = (chunk: Uint8Array) => {
      const wanted = take(chunk);
      // Of HTTP/2, chunks are views of what the session still reads from.
      if (incoming.httpVersionMajor === 1) giveBack(chunk);
      if (wanted) return;
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

/**
 * Gives a chunk's memory back. Otherwise the thousand chunks of a body wait for the garbage collector, which counts
 * their bytes and answers with a full collection for almost each request. A chunk that shares its memory is left alone.
 */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
