import { createServer, type Server, type ServerResponse } from "node:http";
import { RELEASE } from "../protocol/release.ts";
import type { Metrics } from "./metrics.ts";

/** How the scheduler is doing. */
export interface Condition {
  /** What is wrong, a sentence each; with none, all is well. */
  readonly problems: readonly string[];
  /** Further facts for people. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What stands behind the paths, and where they are served. */
export interface ServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly metrics: Pick<Metrics, "text" | "contentType">;
  /** Whether pods can be placed, by this process or, on a standby, by it in place of the leader. */
  ready(): Condition;
  /** Whether the program makes progress; if not, a restart is the cure. */
  alive(): Condition;
}

/** Probes and metrics, being served. They name no pod and no node, and are for anybody who reaches them. */
export interface RunningServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves /healthz, /readyz, /version and /metrics. Rejects with a sentence for people when the address is not to be had. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, port } = options;
  const server = createServer((request, response) => {
    // By hand: whoever reaches the port can send a target that no URL can be made of, such as `//`.
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    void answer(options, path, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new Error(`Cannot listen on ${host}:${port}: ${error.code ?? error.message}. Choose another --listen.`)),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const at = typeof address === "object" && address !== null ? address.port : port;
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${at}`, stop: () => close(server) };
}

async function answer(options: ServerOptions, path: string, response: ServerResponse): Promise<void> {
  if (path === "/metrics") {
    const text = await options.metrics.text();
    response.writeHead(200, { "Content-Type": options.metrics.contentType }).end(text);
  } else if (path === "/version") {
    response.writeHead(200, { "Content-Type": "text/plain" }).end(RELEASE);
  } else if (path === "/healthz" || path === "/readyz") {
    const { problems, facts } = path === "/healthz" ? options.alive() : options.ready();
    const well = problems.length === 0;
    const body = { status: well ? "ok" : "not ready", problems, release: RELEASE, ...facts };
    response.writeHead(well ? 200 : 503, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  } else {
    response.writeHead(404).end("there are /healthz, /readyz, /version and /metrics\n");
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
