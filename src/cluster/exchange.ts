import type { Dispatcher } from "undici";
import type { Json } from "../protocol/json.ts";
import { RELEASE } from "../protocol/release.ts";
import type { Reply, Unknown } from "./answer.ts";
import type { Credentials } from "./credentials.ts";
import { createTower, type Flight, orAborted } from "./flight.ts";
import { type Access, ClusterError } from "./kubeconfig.ts";
import type { PoolKeeper } from "./pools.ts";
import { type Arrival, roundTrip } from "./round-trip.ts";

/** One request on its way out. */
export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Json;
  readonly contentType?: string;
  /** Milliseconds for everything that is awaited of the answer. */
  readonly within: number;
  /** True when a success is answered as soon as its status is there, without its text. */
  readonly statusOnly?: boolean;
  /** True when a success is answered with its bytes. */
  readonly asBytes?: boolean;
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
  /** Gives the whole answer; of one that is no success the text without what we authenticate with. Never rejects. */
  ask(request: Outgoing): Promise<Reply | Unknown>;
  /** Gives an answer that goes on to `read`; what that throws is a broken connection or the deadline. Never rejects. */
  open<T>(request: Outgoing, read: (received: Received) => Promise<T>): Promise<T | Unknown>;
  close(): Promise<void>;
}

/** Works over pools that are opened as the credentials demand. */
export function createExchange(credentials: Credentials, pools: PoolKeeper): Exchange {
  const tower = createTower();
  return {
    async ask(request) {
      const flight = tower.takeOff(request.within, request.signal);
      try {
        const reply = await askTwice(credentials, flight, (access) => askOnce(request, access, { pools, flight }));
        if (!reply.unfinished) flight.land();
        return reply;
      } catch (error) {
        flight.land();
        return explain(request, flight, error);
      }
    },
    async open(request, read) {
      const flight = tower.takeOff(request.within, request.signal);
      try {
        const received = await askTwice(credentials, flight, (access) => openOnce(request, access, { pools, flight }));
        received.body.once("close", flight.land);
        const result = await read(received);
        flight.calm();
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

/** Asks once more after a 401, if reading the credentials again gave others. A 401 has no effect. */
async function askTwice<T extends Reply | Received>(
  credentials: Credentials,
  flight: Flight,
  attempt: (access: Access) => Promise<T>,
): Promise<T> {
  const current = credentials.current();
  const access = current instanceof Promise ? await orAborted(current, flight.signal) : current;
  const first = await attempt(access);
  if (first.status !== 401) return first;
  const renewed = await orAborted(credentials.renew(access), flight.signal);
  if (renewed === access) return first;
  if ("body" in first) await first.body.dump().catch(() => undefined);
  return attempt(renewed);
}

interface Means {
  readonly pools: PoolKeeper;
  readonly flight: Flight;
}

async function askOnce(request: Outgoing, access: Access, { pools, flight }: Means): Promise<Arrival> {
  const waiting = { flight, statusOnly: request.statusOnly === true, asBytes: request.asBytes === true };
  const reply = await roundTrip(pools.of(access).calls, optionsOf(request, access), waiting);
  return reply.status < 300 ? reply : { ...reply, text: scrub(reply.text, access) };
}

async function openOnce(request: Outgoing, access: Access, { pools, flight }: Means): Promise<Received> {
  const options = { ...optionsOf(request, access), signal: flight.signal };
  const { statusCode, headers, body } = await pools.of(access).watches.request(options);
  // Without a listener, a body that breaks off after its reader has gone would end the process.
  body.on("error", () => undefined);
  return {
    status: statusCode,
    retryAfter: headers["retry-after"]?.toString(),
    body,
    scrub: (text) => scrub(text, access),
  };
}

function optionsOf(request: Outgoing, access: Access) {
  return {
    origin: access.origin,
    path: `${access.basePath}${request.path}${queryText(request)}`,
    method: request.method as Dispatcher.HttpMethod,
    headers: {
      Accept: "application/json",
      "User-Agent": `berth/${RELEASE}`,
      ...access.headers,
      ...(request.body !== undefined && { "Content-Type": request.contentType ?? "application/json" }),
    },
    body: request.body === undefined ? null : JSON.stringify(request.body),
  };
}

function queryText({ query }: Outgoing): string {
  if (query === undefined) return "";
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
