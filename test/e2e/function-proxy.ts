import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { RunningFunction } from "./function.ts";

/** What becomes of a request to the function. */
export type FunctionFault =
  /** Nobody answers any more, and what is open is cut. */
  | "killed"
  | { readonly status: number; readonly text: string }
  /** Passed on after so many milliseconds. */
  | { readonly late: number }
  /** The function's own answer, changed. */
  | { readonly change: (answer: Record<string, unknown>) => Record<string, unknown> };

/** Stands between a binder and the function. */
export interface FunctionProxy {
  /** Plain HTTP, which a binder takes on its own machine. */
  readonly url: string;
  /** Undefined: everything is passed on. */
  fault: FunctionFault | undefined;
  /** Paths of all requests so far that were passed on. */
  readonly passed: readonly string[];
}

/** Starts a proxy; it ends with the control plane. */
export async function startFunctionProxy(
  plane: Pick<ControlPlane, "caPem" | "onStop">,
  of: Pick<RunningFunction, "url">,
): Promise<FunctionProxy> {
  const agent = new Agent({ keepAlive: true, ca: plane.caPem });
  const passed: string[] = [];
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: FunctionProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: undefined,
    passed,
  };
  server.on("request", (question, answer) => {
    serve({ proxy, passed, agent, to: of.url }, question, answer).catch(() => answer.destroy());
  });
  plane.onStop(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return proxy;
}

interface Serving {
  readonly proxy: FunctionProxy;
  readonly passed: string[];
  readonly agent: Agent;
  /** The function's URL. */
  readonly to: string;
}

async function serve({ proxy, passed, agent, to }: Serving, question: IncomingMessage, answer: ServerResponse) {
  const { fault } = proxy;
  if (fault === "killed") {
    question.socket.destroy();
    return;
  }
  const body = await buffer(question);
  if (fault && "status" in fault) {
    answer.writeHead(fault.status, { "Content-Type": "application/json" }).end(fault.text);
    return;
  }
  if (fault && "late" in fault) await sleep(fault.late, undefined, { ref: false });
  else passed.push(question.url ?? "");
  const change = fault && "change" in fault ? fault.change : undefined;
  await forward({ agent, url: new URL(question.url ?? "/", to), body, change }, question, answer);
}

interface Forwarding {
  readonly agent: Agent;
  readonly url: URL;
  readonly body: Buffer;
  readonly change: ((answer: Record<string, unknown>) => Record<string, unknown>) | undefined;
}

async function forward({ agent, url, body, change }: Forwarding, question: IncomingMessage, answer: ServerResponse) {
  const { host: _, connection: __, ...headers } = question.headers;
  const asked = request(url, { agent, method: question.method ?? "GET", headers });
  asked.end(body);
  const [given] = (await once(asked, "response")) as [IncomingMessage];
  const bytes = await buffer(given);
  const changed = change && given.statusCode === 200 ? changedBody(bytes, given, change) : undefined;
  answer.writeHead(given.statusCode ?? 502, {
    "Content-Type": "application/json",
    ...(given.headers.etag && { ETag: given.headers.etag }),
    ...(!changed && given.headers["content-encoding"] && { "Content-Encoding": given.headers["content-encoding"] }),
  });
  answer.end(changed ?? bytes);
}

function changedBody(
  bytes: Buffer,
  { headers }: IncomingMessage,
  change: (answer: Record<string, unknown>) => Record<string, unknown>,
): string {
  const text = headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
  return JSON.stringify(change(JSON.parse(text.toString())));
}
