import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JsonObject } from "../protocol/json.ts";

/** A call that an extender was sent. */
export interface ExtenderCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

/** What it answers: a body to be sent with status 200, a status, or nothing at all, ever. */
export type ExtenderReply = JsonObject | readonly JsonObject[] | string | { readonly status: number } | undefined;

/** An extender for tests: a small listener in front of a function. */
export interface SmallExtender {
  readonly url: string;
  readonly calls: readonly ExtenderCall[];
  stop(): Promise<void>;
}

/** Starts an extender on a free port of 127.0.0.1. */
export async function startSmallExtender(
  reply: (call: ExtenderCall) => ExtenderReply | Promise<ExtenderReply>,
  tls?: { readonly certPem: string; readonly keyPem: string },
): Promise<SmallExtender> {
  const calls: ExtenderCall[] = [];
  const listener: RequestListener = async (request, response) => {
    const call = { path: request.url ?? "", headers: request.headers, body: JSON.parse(await text(request)) };
    calls.push(call);
    const answer = await reply(call);
    if (answer === undefined) return;
    const status = typeof answer === "object" && "status" in answer ? Number(answer.status) : 200;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  };
  const server = tls ? createTlsServer({ cert: tls.certPem, key: tls.keyPem }, listener) : createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `${tls ? "https" : "http"}://127.0.0.1:${port}`, calls, stop: () => stop(server) };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
