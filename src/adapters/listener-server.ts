import { createServer, type Server } from "node:http";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Log } from "../extender/log.ts";
import type { Credentials } from "./server-certificate.ts";

/** A server of HTTP/2 and HTTP/1.1 over TLS; the types of Node 24 forget the method of its HTTP/1.1 side. */
export type TlsServer = Http2SecureServer & Pick<Server, "closeIdleConnections">;

/** A server of HTTP/1.1 alone, or of both over TLS. */
export type AnyServer = Server | TlsServer;

/** Limits in milliseconds and bytes. The defaults are right for kube-scheduler; tests want shorter ones. */
export interface ListenerLimits {
  /** How long an idle connection stays open. Go reuses one for 90 s: closing earlier loses a request now and then. */
  readonly idleMs: number;
  /** How long the headers of a request may take to arrive. */
  readonly headersMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestMs: number;
  /** How long a client may go on sending a body that was answered early. */
  readonly lingerMs: number;
  /** How often the certificate files are looked at. */
  readonly certificateMs: number;
  /** All headers of a request together. */
  readonly headerBytes: number;
}

export const DEFAULT_LIMITS: ListenerLimits = {
  idleMs: 120_000,
  headersMs: 20_000,
  requestMs: 60_000,
  lingerMs: 5_000,
  certificateMs: 10_000,
  headerBytes: 16 * 1024,
};

/**
 * Bytes a client may send before it waits for this side, per stream and per connection. With Node's 65,535 a request
 * of several MB takes as many round trips as it has windows.
 */
const WINDOW = 32 * 1024 * 1024;

/** A hundred scheduler requests at once are more than one kube-scheduler makes; each may fill its window. */
const MAX_STREAMS = 100;

/**
 * MB of answers that may wait in one session. With Node's default of 10, one answer of 14 MB that its client has not
 * read yet makes the server refuse every other request of the session (ENHANCE_YOUR_CALM).
 */
const SESSION_MEMORY = 1024;

/**
 * Streams that a client may reset: so many at once, and so many more each second. Above Node's 1,000 and 33 the session
 * ends, and whatever else it carries is lost. Go resets a stream when its reader closes an answer whose end it has not
 * seen yet, and kube-scheduler closes an answer at the last brace of its JSON (pkg/scheduler/extender.go, v1.37).
 */
const RESETS = { streamResetBurst: 10_000, streamResetRate: 1_000 };

/** Dead peers are noticed by TCP keep-alive, asked after this time, in milliseconds. */
const PROBE_MS = 30_000;

const SOCKETS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };

/** HTTP/1.1 without TLS. */
export function plainServer(limits: ListenerLimits): Server {
  return limitServer(createServer(SOCKETS), limits);
}

/**
 * HTTP/2 and HTTP/1.1 over TLS 1.2 and 1.3. With an authority for clients, client certificates are asked for but not
 * required: what an unproven caller may do is the app's decision.
 */
export function tlsServer(credentials: Credentials, limits: ListenerLimits, log: Log): TlsServer {
  const server = createSecureServer({
    ...SOCKETS,
    ...credentials,
    allowHTTP1: true,
    requestCert: credentials.ca !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: limits.headersMs,
    maxSessionMemory: SESSION_MEMORY,
    ...RESETS,
    settings: { initialWindowSize: WINDOW, maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: limits.headerBytes },
  }) as TlsServer;
  server.on("session", (session) => session.setLocalWindowSize(WINDOW));
  server.on("stream", endWithLastByte);
  logConnections(server, log);
  return limitServer(server, limits);
}

/**
 * Lets an answer end in the frame of its last byte. Node's `request` event otherwise keeps every answer open for
 * trailers, and ends it in a frame of its own, which a client that has read its JSON no longer waits for.
 */
function endWithLastByte(stream: ServerHttp2Stream): void {
  const respond = stream.respond.bind(stream);
  stream.respond = (headers, options) => respond(headers, { ...options, waitForTrailers: false });
}

/** Both kinds of server read these as properties; an Http2SecureServer takes them for its HTTP/1.1 side. */
function limitServer<T extends AnyServer>(server: T, limits: ListenerLimits): T {
  return Object.assign(server, {
    timeout: limits.idleMs,
    keepAliveTimeout: limits.idleMs,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    // How precisely the two above are kept.
    connectionsCheckingInterval: Math.ceil(limits.headersMs / 4),
    maxHeaderSize: limits.headerBytes,
  });
}

/** Not more than one line of a kind in this time: a port scan is no reason to fill a disk. */
const QUIET_MS = 10_000;

/**
 * A client that does not trust the certificate, or speaks plain HTTP to a TLS port, or breaks the rules of HTTP/2 so that
 * its session ends with all that it carries, is seen nowhere else.
 */
function logConnections(server: Http2SecureServer, log: Log): void {
  const logged = new Map<string, number>();
  const warn = (message: string, error: NodeJS.ErrnoException, socket: Pick<Socket, "remoteAddress"> | undefined) => {
    const reason = error.code?.startsWith("ERR_HTTP2") === false ? error.code : error.message;
    const kind = `${message}: ${reason}`;
    // Not Date.now(): a clock that is set back would silence the log for as long.
    const now = performance.now();
    if (reason === "ECONNRESET" || now - (logged.get(kind) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    logged.set(kind, now);
    log("warn", message, { reason, remote: socket?.remoteAddress });
  };
  server.on("tlsClientError", (error, socket) => warn("a TLS handshake failed", error, socket));
  server.on("sessionError", (error, session) => warn("an HTTP/2 session broke", error, session.socket));
}
