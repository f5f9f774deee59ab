import { once } from "node:events";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Log } from "../extender/log.ts";
import { followConnections } from "./connections.ts";
import { ListenError } from "./listen-error.ts";
import { type FetchApp, requestHandler } from "./listener-requests.ts";
import { type AnyServer, DEFAULT_LIMITS, type ListenerLimits, plainServer, tlsServer } from "./listener-server.ts";
import { isLoopback } from "./peer.ts";
import {
  type Credentials,
  readCredentials,
  reportCertificate,
  type TlsFiles,
  watchCredentials,
} from "./server-certificate.ts";

export { ListenError } from "./listen-error.ts";
export { listenerPour } from "./listener-body.ts";
export type { FetchApp, ListenerEnv } from "./listener-requests.ts";
export type { TlsFiles } from "./server-certificate.ts";

/** What to serve, and where. */
export interface ListenOptions {
  readonly app: FetchApp;
  /** A name or address of this machine, such as `127.0.0.1`, `::` or `localhost`. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Absent: plain HTTP/1.1, on loopback hosts only. */
  readonly tls?: TlsFiles;
  /** Allows plain HTTP on any host, for set-ups that end TLS in front of this server. */
  readonly insecure?: boolean;
  readonly log: Log;
  readonly limits?: Partial<ListenerLimits>;
}

/** A server that listens. */
export interface Listener {
  /** Where this machine reaches it, such as `https://127.0.0.1:8443`. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting, lets requests in flight finish, tells HTTP/2 clients, and resolves when all connections have
   * ended. What is still open after the grace time is cut.
   *
   * @param graceMs milliseconds, 10 seconds when not given
   */
  stop(graceMs?: number): Promise<void>;
}

const GRACE_MS = 10_000;

/**
 * Serves a Fetch app: with `tls` over HTTP/2 and HTTP/1.1, without over plain HTTP/1.1. The certificate files may
 * change at any time: connections made afterwards get the new ones, open connections keep what they agreed on.
 *
 * @throws {ListenError} one sentence for people: the port is taken, a file is missing or unusable, plain HTTP where
 *   others could listen in
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { host, log } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  refuseOpenHttp(options);
  const { server, watch } = await createServer(options, limits);
  const connections = followConnections(server, options.tls !== undefined);
  server.on("request", requestHandler({ app: options.app, limits, connections, log }));
  const port = await bind(server, host, options.port);
  server.on("error", (error: Error) => log("error", "a connection could not be accepted", { error: error.message }));
  const unwatch = watch();
  return {
    url: `${options.tls ? "https" : "http"}://${reachable(host)}:${port}`,
    port,
    stop(graceMs = GRACE_MS) {
      unwatch();
      return connections.stop(graceMs);
    },
  };
}

function refuseOpenHttp({ host, tls, insecure }: ListenOptions): void {
  if (tls || insecure || host === "localhost" || isLoopback(host)) return;
  throw new ListenError(
    `plain HTTP on ${host} would send pods and credentials readable over the network: ` +
      "give a certificate and its key, or listen on 127.0.0.1",
  );
}

interface Created {
  readonly server: AnyServer;
  /** Begins to follow the certificate files; the result ends it. */
  watch(): () => void;
}

async function createServer({ tls, log }: ListenOptions, limits: ListenerLimits): Promise<Created> {
  if (!tls) return { server: plainServer(limits), watch: () => () => undefined };
  const credentials = await readCredentials(tls);
  reportCertificate(log, "serving with this TLS certificate", credentials);
  const server = tlsServer(credentials, limits, log);
  const changed = (renewed: Credentials) => server.setSecureContext(renewed);
  return { server, watch: () => watchCredentials(tls, credentials, { everyMs: limits.certificateMs, log, changed }) };
}

/** Listens and answers with the port. */
async function bind(server: AnyServer, host: string, port: number): Promise<number> {
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    throw new ListenError(bindProblem(error as NodeJS.ErrnoException, host, port));
  }
  return (server.address() as AddressInfo).port;
}

function bindProblem(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is taken: stop the program that listens there or choose another port`;
    case "EACCES":
      return `port ${port} of ${host} is not open to this user: choose a port above 1023`;
    case "EADDRNOTAVAIL":
      return `${host} is not an address of this machine: listen on one that is, or on 0.0.0.0 for all`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not a name that this machine can resolve: listen on an address instead`;
    default:
      return `port ${port} of ${host} cannot be listened on: ${error.message}`;
  }
}

/** A host for URLs; "all addresses" is nowhere to connect to, so the loopback one stands for it. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return isIPv6(host) ? `[${host}]` : host;
}
