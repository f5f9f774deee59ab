import type { Dispatcher } from "undici";
import type { Json } from "../protocol/json.ts";
import { RELEASE } from "../protocol/release.ts";
import type { Unknown } from "./answer.ts";
import type { Credentials } from "./credentials.ts";
import { createTower, type Flight, orAborted } from "./flight.ts";
import { type Access, ClusterError } from "./kubeconfig.ts";
import type { PoolKeeper, Pools } from "./pools.ts";

/** One request on its way out. */
export interface Outgoing {
  readonly pool: keyof Pools;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Json;
  readonly contentType?: string;
  /** Milliseconds for everything that is awaited of the answer. */
  readonly within: number;
  /** Ends the request and whatever is still coming of its answer. */
  readonly signal?: AbortSignal;
}

/** An answer whose body is still on the wire. */
export interface Received {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Dispatcher.ResponseData["body"];
  /** Takes out of a text what we authenticate with, should a proxy repeat it. */
  scrub(text: string): string;
}

/** Sends requests with fresh credentials, and turns everything that can break into values. */
export interface Exchange {
  /** Gives the answer to `read`; what that throws is a broken connection or the deadline. Never rejects. */
  run<T>(request: Outgoing, read: (received: Received) => Promise<T>): Promise<T | Unknown>;
  close(): Promise<void>;
}

/** Works over pools that are opened as the credentials demand. */
export function createExchange(credentials: Credentials, pools: PoolKeeper): Exchange {
  const tower = createTower();
  return {
    async run(request, read) {
      const flight = tower.takeOff(request.within, request.signal);
      try {
        const received = await sendTwice(credentials, (access) => send({ request, access, pools, flight }), flight);
        received.body.once("close", flight.land);
        const result = await read(received);
        if (request.pool === "watches") flight.calm();
        return result;
      } catch (error) {
        flight.land();
        return explain(request, flight, error);
      }
    },
    async close() {
      tower.close();
      await pools.destroy();
    },
  };
}

/** Sends once more after a 401, if reading the credentials again gave others. A 401 has no effect. */
async function sendTwice(
  credentials: Credentials,
  attempt: (access: Access) => Promise<Received>,
  { signal }: Flight,
): Promise<Received> {
  const access = await orAborted(credentials.current(), signal);
  const first = await attempt(access);
  if (first.status !== 401) return first;
  const renewed = await orAborted(credentials.renew(access), signal);
  if (renewed === access) return first;
  await first.body.dump().catch(() => undefined);
  return attempt(renewed);
}

interface Sending {
  readonly request: Outgoing;
  readonly access: Access;
  readonly pools: PoolKeeper;
  readonly flight: Flight;
}

async function send({ request, access, pools, flight }: Sending): Promise<Received> {
  const { statusCode, headers, body } = await pools.of(access)[request.pool].request({
    origin: access.origin,
    path: `${access.basePath}${request.path}${queryText(request)}`,
    method: request.method,
    headers: {
      Accept: "application/json",
      "User-Agent": `berth/${RELEASE}`,
      ...access.headers,
      ...(request.body !== undefined && { "Content-Type": request.contentType ?? "application/json" }),
    },
    body: request.body === undefined ? null : JSON.stringify(request.body),
    signal: flight.signal,
  });
  // Without a listener, a body that breaks off after its reader has gone would end the process.
  body.on("error", () => undefined);
  return {
    status: statusCode,
    retryAfter: headers["retry-after"]?.toString(),
    body,
    scrub: (text) => scrub(text, access),
  };
}

function queryText({ query = {} }: Outgoing): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

function scrub(text: string, { headers }: Access): string {
  const secret = headers["Authorization"]?.replace(/^\S+\s+/, "");
  return secret === undefined || secret.length === 0 ? text : text.replaceAll(secret, "[credential]");
}

/** Only codes are told of what broke: messages of parsers and sockets may hold what was being sent. */
function explain(request: Outgoing, flight: Flight, error: unknown): Unknown {
  const title = `${request.method} ${request.path}`;
  const because = (cause: Unknown["cause"], what: string): Unknown => {
    return { kind: "unknown", cause, message: `${title} ${what}` };
  };
  if (flight.ended() === "timeout") return because("timeout", `had no whole answer within ${request.within} ms`);
  if (flight.ended() === "closed") return because("closed", "was given up");
  if (error instanceof ClusterError) return because("credentials", `was not sent. ${error.message}`);
  const { code, name } = error as { readonly code?: string; readonly name?: string };
  return because("reset", `met a broken connection: ${code ?? name ?? "unknown"}`);
}
