import { mkdtemp, rm, writeFile } from "node:fs/promises";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { type Connection, type ConnectOptions, connect } from "./connection.ts";
import type { Timing } from "./timing.ts";

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; empty where there was none. */
  readonly body: JsonObject;
}

/** Answers one request, or misbehaves. */
export type Behaviour = (arrived: Arrived, answer: http.ServerResponse) => void;

/** A server of the test's own that plays the API server. */
export interface FakeApi {
  readonly url: string;
  readonly arrived: Arrived[];
  /** Connections that were opened so far. */
  connections(): number;
  /** Breaks every connection. */
  cut(): void;
  behave(behaviour: Behaviour): void;
}

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Registers what is closed after the test, the last one first. */
export function afterTest(close: () => unknown): void {
  opened.push(close);
}

/** A folder of the test, deleted after it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "berth-cluster-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a server on a free port, stopped after the test. */
export async function fakeApi(behaviour: Behaviour, server: http.Server = http.createServer()): Promise<FakeApi> {
  const arrived: Arrived[] = [];
  let behave = behaviour;
  let connections = 0;
  server.on("connection", () => connections++);
  server.on("request", async (request: http.IncomingMessage, answer: http.ServerResponse) => {
    const whole = await read(request);
    arrived.push(whole);
    behave(whole, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const scheme = "cert" in server || "setSecureContext" in server ? "https" : "http";
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    arrived,
    connections: () => connections,
    cut: () => server.closeAllConnections(),
    behave: (next) => {
      behave = next;
    },
  };
}

async function read(request: http.IncomingMessage): Promise<Arrived> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const url = new URL(request.url ?? "", "http://server");
  return {
    method: request.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    text,
    body: text === "" ? {} : JSON.parse(text),
  };
}

/** Answers with JSON. */
export function reply(answer: http.ServerResponse, status: number, object: unknown): void {
  const text = JSON.stringify(object);
  answer.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text);
}

/** Answers with a Status object, as the API server refuses. */
export function refuse(answer: http.ServerResponse, status: number, reason: string, message = reason): void {
  reply(answer, status, { kind: "Status", apiVersion: "v1", status: "Failure", reason, message, code: status });
}

/** Writes a kubeconfig for a server and gives its path; `user` is the user's entry as JSON. */
export async function kubeconfig(url: string, user: JsonObject = { token: "the-secret-token" }): Promise<string> {
  const path = join(await temporaryFolder(), "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "tester", user }],
    contexts: [{ name: "here", context: { cluster: "test", user: "tester", namespace: "home" } }],
    "current-context": "here",
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Connects with a kubeconfig of its own; closed after the test. */
export async function connectTo(api: { readonly url: string }, options: ConnectOptions = {}): Promise<Connection> {
  const connection = await connect({ kubeconfig: await kubeconfig(api.url) }, options);
  afterTest(() => connection.close());
  return connection;
}

/** Clocks that stand still until told. */
export interface FakeTiming extends Timing {
  /** Lets so many milliseconds pass, running what is due in its order. */
  pass(ms: number): void;
  /** How many timers are waiting. */
  readonly waiting: number;
}

/** Time that passes only by `pass`; chance that is always the same. */
export function fakeTiming(start = Date.UTC(2026, 0, 1), chance = 0): FakeTiming {
  let elapsed = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const pass = (ms: number): void => {
    const end = elapsed + ms;
    for (;;) {
      const next = timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) break;
      timers = timers.filter((timer) => timer !== next);
      elapsed = Math.max(elapsed, next.at);
      next.run();
    }
    elapsed = end;
  };
  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    random: () => chance,
    after(ms, run) {
      const timer = { at: elapsed + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    pass,
    get waiting() {
      return timers.length;
    },
  };
}
