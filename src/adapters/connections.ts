import { once } from "node:events";
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { AnyServer } from "./listener-server.ts";

/** The open connections of a server, and how they end. */
export interface Connections {
  /** True once the server is to stop: answers are then the last of their connection. */
  readonly stopping: boolean;
  /** Notes that a request has arrived on a connection. */
  used(socket: Socket): void;
  /**
   * Stops accepting; idle connections end at once, HTTP/2 sessions are told (GOAWAY), requests in flight are answered.
   * What is still open after the grace time is cut. Resolves when nothing is open any more. A further call can only
   * shorten the grace.
   *
   * @param graceMs milliseconds
   */
  stop(graceMs: number): Promise<void>;
}

/** Idle HTTP/1.1 connections are looked for this often while stopping: those whose last answer began before. */
const SWEEP_MS = 50;

/** A connection accepted just before the stop has this long to send its request. */
const UNUSED_MS = 1_000;

/** Follows the connections of a server; call it before the server listens. */
export function followConnections(server: AnyServer, tls: boolean): Connections {
  const sockets = new Set<Socket>();
  const used = new WeakSet<Socket>();
  let stopping = false;
  let stopped: Promise<void> | undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  server.on("connection", keep);
  server.on("secureConnection", keep);
  server.on("session", (session: ServerHttp2Session) => {
    if (stopping) session.close();
  });

  const cutUnused = () => {
    for (const socket of sockets) if (!used.has(socket) && mayBringRequests(socket, tls)) socket.destroy();
  };
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    get stopping() {
      return stopping;
    },
    used: (socket) => void used.add(socket),
    async stop(graceMs) {
      stopping = true;
      const cut = setTimeout(cutAll, graceMs);
      stopped ??= close(server, Math.min(graceMs, UNUSED_MS), cutUnused);
      await stopped;
      clearTimeout(cut);
    },
  };
}

async function close(server: AnyServer, unusedMs: number, cutUnused: () => void): Promise<void> {
  const closed = once(server, "close");
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const unused = setTimeout(cutUnused, unusedMs);
  server.close();
  await closed;
  clearInterval(sweep);
  clearTimeout(unused);
}

/** False for sockets on which no HTTP/1.1 request is ever seen: those below TLS, and those of HTTP/2 sessions. */
function mayBringRequests(socket: Socket, tls: boolean): boolean {
  return !tls || ((socket as TLSSocket).encrypted && (socket as TLSSocket).alpnProtocol !== "h2");
}
