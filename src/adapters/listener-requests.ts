import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import type { Peer } from "../extender/callers.ts";
import type { Log } from "../extender/log.ts";
import type { Connections } from "./connections.ts";
import { answerEarly, limitArrival } from "./early-answer.ts";
import type { ListenerLimits } from "./listener-server.ts";
import { peerOf } from "./peer.ts";

/** What the app is told beside the request. */
export interface ListenerEnv {
  readonly peer: Peer;
  /** The request as Node has it: its body arrives here without the cost of a Fetch stream. */
  readonly incoming: Readable & { readonly httpVersionMajor: number };
}

/** Anything that answers Fetch requests; a Hono app does. */
export interface FetchApp {
  fetch(request: Request, env: ListenerEnv): Response | Promise<Response>;
}

/** What a request meets between the server and the app. */
export interface RequestSettings {
  readonly app: FetchApp;
  readonly limits: ListenerLimits;
  readonly connections: Connections;
  readonly log: Log;
}

type Http1 = readonly [incoming: IncomingMessage, outgoing: ServerResponse];
type Http2 = readonly [incoming: Http2ServerRequest, outgoing: Http2ServerResponse];
type Exchange = Http1 | Http2;

/** Hands requests to the app and its answers back, and decides what becomes of the connection. */
export function requestHandler(settings: RequestSettings): (...exchange: Exchange) => void {
  const { limits, connections } = settings;
  const handle = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const exchange = [incoming, outgoing] as unknown as Exchange;
      const response = await answer(request, exchange, settings);
      if (isHttp1(exchange)) await settle(exchange, settings);
      return response;
    },
    { errorHandler: refuseMalformed },
  );
  return (...exchange) => {
    if (isHttp1(exchange)) connections.used(exchange[0].socket);
    else limitArrival(exchange[0], limits.requestMs);
    void handle(exchange[0], exchange[1]);
  };
}

function isHttp1(exchange: Exchange): exchange is Http1 {
  return exchange[0].httpVersionMajor === 1;
}

/** An app that throws is answered for with 500; what it threw is for the log alone. */
async function answer(request: Request, [incoming]: Exchange, { app, log }: RequestSettings): Promise<Response> {
  try {
    return await app.fetch(request, { peer: peerOf(incoming), incoming });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const left = incoming.destroyed || request.signal.aborted;
    if (left) log("info", "a client left before its request was read", { reason: message });
    else log("error", "a request failed inside the server", { error: message });
    return Response.json({ error: "internal error; the log has the cause" }, { status: 500 });
  }
}

/** Decides whether the connection outlives the answer. */
async function settle([incoming, outgoing]: Http1, { limits, connections }: RequestSettings): Promise<void> {
  if (outgoing.headersSent) return;
  // An app that answers at once is faster than the parser, which may hold the whole body already.
  if (!incoming.complete) await setImmediate();
  if (!incoming.complete) answerEarly(incoming, outgoing, limits.lingerMs);
  else if (connections.stopping) outgoing.setHeader("connection", "close");
}

/** What no app gets to see: a request without a usable Host header or path. */
function refuseMalformed(error: unknown): Response {
  const reason = error instanceof Error ? error.message : "not understood";
  return Response.json({ error: `bad request: ${reason}` }, { status: 400 });
}
