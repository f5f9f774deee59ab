import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";

/** Where an API server is and who asks. */
export interface Connection {
  readonly url: string;
  readonly caPem: string;
  readonly token?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

/** One HTTP request; the path starts with a slash. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Give up after this long (ms). Default 30,000. */
  readonly within?: number;
}

/** What came back. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Sends requests over kept connections; verifies the server's certificate. */
export interface Transport {
  send(call: Call): Promise<Reply>;
  close(): void;
}

/** Opens a pool of at most 32 connections. Network errors reject; any HTTP status resolves. */
export function openTransport(connection: Connection): Transport {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 32,
    ca: connection.caPem,
    cert: connection.certPem,
    key: connection.keyPem,
  });
  return { send: (call) => send(connection, agent, call), close: () => agent.destroy() };
}

/** Asks for one page on a connection of its own; plain HTTP as well. */
export async function fetchText(connection: Connection, path: string): Promise<Reply> {
  if (connection.url.startsWith("http:")) {
    const answer = await fetch(`${connection.url}${path}`);
    return { status: answer.status, text: await answer.text() };
  }
  const transport = openTransport(connection);
  try {
    return await transport.send({ method: "GET", path });
  } finally {
    transport.close();
  }
}

function send(connection: Connection, agent: Agent, call: Call): Promise<Reply> {
  const url = new URL(call.path, connection.url);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const payload = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
  const headers: Record<string, string | number> = { Accept: "application/json", "User-Agent": "berth-test" };
  if (connection.token !== undefined) headers["Authorization"] = `Bearer ${connection.token}`;
  if (payload !== undefined) {
    headers["Content-Type"] = call.contentType ?? "application/json";
    headers["Content-Length"] = payload.length;
  }
  return exchange(url, { method: call.method, agent, headers, timeout: call.within ?? 30_000 }, payload);
}

function exchange(url: URL, options: RequestOptions, payload: Buffer | undefined): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const question = request(url, options, (answer) => readText(answer, resolve, reject));
    question.on("error", reject);
    question.on("timeout", () =>
      question.destroy(new Error(`no answer from ${url.host} to ${options.method} ${url.pathname}`)),
    );
    question.end(payload);
  });
}

function readText(answer: IncomingMessage, resolve: (reply: Reply) => void, reject: (error: Error) => void): void {
  const chunks: Buffer[] = [];
  answer.on("data", (chunk: Buffer) => chunks.push(chunk));
  answer.on("error", reject);
  answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }));
}
