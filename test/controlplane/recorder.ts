import { once } from "node:events";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { field, type JsonObject } from "../../src/protocol/json.ts";
import type { Authority } from "./authority.ts";

/** One request as it arrived. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  /** `1.1` or `2.0`. */
  readonly httpVersion: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An extender over HTTPS that keeps every request and refuses and prefers nothing. */
export interface Recorder {
  /** Without a path; append one to make a urlPrefix. */
  readonly url: string;
  readonly requests: readonly Recorded[];
  stop(): Promise<void>;
}

/** Starts a recorder on 127.0.0.1 with a certificate of the authority. */
export async function startRecorder(authority: Authority): Promise<Recorder> {
  const requests: Recorded[] = [];
  const { certPem, keyPem } = await authority.issue({ name: "recorder" });
  const server = createSecureServer({ cert: certPem, key: keyPem, allowHTTP1: true });
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  server.on("request", async (request, response) => {
    const recorded = await read(request);
    requests.push(recorded);
    reply(recorded, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    requests,
    async stop() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function read(request: Http2ServerRequest): Promise<Recorded> {
  const body = await buffer(request);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !name.startsWith(":")) headers[name] = String(value);
  }
  // HTTP/2 says the host in a pseudo header.
  headers["host"] ??= request.authority;
  return { method: request.method, path: request.url, httpVersion: request.httpVersion, headers, body };
}

function reply(recorded: Recorded, response: Http2ServerResponse): void {
  const args = JSON.parse(recorded.body.toString("utf8")) as JsonObject;
  const answer = recorded.path.endsWith("/filter") ? keepAll(args) : scoreZero(args);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer));
}

function keepAll(args: JsonObject): JsonObject {
  return { Nodes: args["Nodes"], NodeNames: args["NodeNames"] };
}

function scoreZero(args: JsonObject): { readonly Host: string; readonly Score: number }[] {
  const names = args["NodeNames"];
  if (Array.isArray(names)) return names.map((name) => ({ Host: String(name), Score: 0 }));
  const items = field(args["Nodes"], "items");
  const nodes = Array.isArray(items) ? items : [];
  return nodes.map((node) => ({ Host: String(field(field(node, "metadata"), "name")), Score: 0 }));
}
