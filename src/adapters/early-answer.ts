import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";

/**
 * Makes an HTTP/1.1 answer to a request whose body is still arriving the last of its connection, and one that arrives:
 * it says `Connection: close`, then this side ends and discards what the client still sends. Closing at once would
 * reset the connection, and the reset can overtake the answer on its way to the client.
 *
 * @param lingerMs how long the client may go on sending, in milliseconds, before the connection is cut
 */
export function answerEarly(incoming: IncomingMessage, outgoing: ServerResponse, lingerMs: number): void {
  const { socket } = incoming;
  outgoing.setHeader("connection", "close");
  let ended = false;
  // Node ends the connection of a last answer by this call, as soon as the answer is written.
  socket.destroySoon = () => {
    if (!ended) linger(socket, incoming, lingerMs);
    ended = true;
  };
}

function linger(socket: Socket, incoming: IncomingMessage, lingerMs: number): void {
  socket.end();
  if (incoming.readableEnded) {
    socket.destroy();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  incoming.once("end", () => socket.destroy());
  // Whoever read the body has stopped, and its listener would pause the stream again.
  incoming.removeAllListeners("data");
  incoming.resume();
}

/**
 * Ends an HTTP/2 request whose body does not arrive in time, as `requestTimeout` does for HTTP/1.1: with 408 if
 * nothing was answered yet.
 */
export function limitArrival({ stream }: Http2ServerRequest, withinMs: number): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    if (stream.destroyed || stream.state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE) return;
    if (!stream.headersSent) stream.respond({ ":status": 408 }, { endStream: true });
    stream.close(constants.NGHTTP2_NO_ERROR);
  }, withinMs);
  timer.unref();
  stream.once("close", () => clearTimeout(timer));
}
