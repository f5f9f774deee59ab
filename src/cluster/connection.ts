import type { Json } from "../protocol/json.ts";
import { type Answer, type Failure, judge, type Reply, type Unknown } from "./answer.ts";
import { openCredentials } from "./credentials.ts";
import { createExchange, type Received } from "./exchange.ts";
import type { Source } from "./kubeconfig.ts";
import { keepPools } from "./pools.ts";
import { systemTiming, type Timing } from "./timing.ts";

/** What may differ from one connection to another. */
export interface ConnectOptions {
  /** Default: the machine's clocks. */
  readonly timing?: Timing;
  /** Most calls on the wire at a time; further ones wait their turn, within their deadlines. Default 32. */
  readonly connections?: number;
  /** Deadline of a call that names none, in milliseconds. Default 5,000. */
  readonly within?: number;
}

/** Parameters of a path; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One request to the API server. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Starts with a slash and holds no query. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: Json;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Milliseconds until the whole answer must be there, waiting for a connection and a second try included. */
  readonly within?: number;
  /** True when the status says everything: a success then counts whatever its body is, or however it breaks off. */
  readonly statusOnly?: boolean;
  /** True when a success is answered with its bytes, which nobody has looked at. */
  readonly asBytes?: boolean;
}

/** A request whose answer does not end by itself. */
export interface WatchCall {
  readonly path: string;
  readonly query?: Query;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Milliseconds until the answer must have begun. Default 30,000. */
  readonly within?: number;
}

/** An answer that is still coming. Iterating over `body` throws when the connection breaks. */
export interface Open {
  readonly kind: "open";
  readonly body: AsyncIterable<Uint8Array>;
}

/** The one way to an API server, shared by everything in a program. */
export interface Connection {
  /** Scheme, host and port, for messages. */
  readonly server: string;
  /** The namespace of the kubeconfig's context, or of this pod. */
  readonly namespace: string | undefined;
  /**
   * Sends a request once, and once more only after a 401 with credentials read again: a 401 has no effect. Never
   * rejects. The message of a failure holds no credential.
   */
  call(call: Call): Promise<Answer>;
  /** Opens a watch on a connection of its own, however busy the calls are. Never rejects. */
  watch(call: WatchCall): Promise<Open | Failure>;
  /** Ends every call and watch, which then answer `closed`. */
  close(): Promise<void>;
}

/** Reads the credentials; nothing is sent yet. Throws ClusterError when there are none. */
export async function connect(source: Source, options: ConnectOptions = {}): Promise<Connection> {
  const { timing = systemTiming, connections = 32, within = 5_000 } = options;
  const credentials = await openCredentials(source, timing);
  const pools = keepPools(connections);
  const first = await credentials.current();
  pools.of(first);
  const exchange = createExchange(credentials, pools);
  return {
    server: first.origin,
    namespace: first.namespace,
    call: async (call) => answerTo(call, await exchange.ask({ ...call, within: call.within ?? within })),
    watch: (call) =>
      exchange.open({ ...call, method: "GET", within: call.within ?? 30_000 }, (received) =>
        openOrFailure(call, received),
      ),
    close: () => exchange.close(),
  };
}

function answerTo({ method, path, statusOnly }: Call, reply: Reply | Unknown): Answer {
  if ("kind" in reply) return reply;
  const { status, bytes } = reply;
  if (bytes !== undefined) return { kind: "ok", status, object: {}, bytes };
  if (statusOnly === true && status >= 200 && status < 300) return { kind: "ok", status, object: {} };
  return judge(`${method} ${path}`, reply);
}

async function openOrFailure(call: WatchCall, received: Received): Promise<Open | Failure> {
  const { status, body } = received;
  if (status === 200) return { kind: "open", body };
  const answer = judge(`GET ${call.path}`, await reply(received));
  if (answer.kind !== "ok") return answer;
  return { kind: "unknown", cause: "unreadable", status, message: `the watch of ${call.path} was answered ${status}` };
}

async function reply(received: Received): Promise<{ status: number; text: string; retryAfter: string | undefined }> {
  const { status, body, retryAfter } = received;
  // With a 4xx the status alone is certain, so a body that breaks off takes nothing away from it.
  const text = status >= 400 && status < 500 ? await body.text().catch(() => "") : await body.text();
  return { status, retryAfter, text: status < 300 ? text : received.scrub(text) };
}
