import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ControlPlane } from "../controlplane/controlplane.ts";

/** A request on its way to the API server. */
export interface Passing {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly body: string;
}

/** A request that the API server has answered. */
export interface Answered extends Passing {
  readonly status: number;
}

/** Stands between a binder and its API server, and decides what arrives when. */
export interface Interposer {
  /** Leads to the API server through here, with the credential of the kubeconfig it was made from. */
  readonly kubeconfig: string;
  /** How much later than usual a watch hears of things, in milliseconds. */
  watchDelay: number;
  /** A request waits here, whatever becomes of the one who sent it; `drop` breaks the connection instead. */
  before: (passing: Passing) => Promise<"deliver" | "drop"> | undefined;
  /** An answer waits here. */
  after: (answered: Answered) => Promise<void> | undefined;
  /** What the API server has answered, watches left out. */
  readonly answers: readonly Answered[];
}

/** True for the write that assigns a pod; with a name, for that pod's. */
export function isBinding({ method, path }: Passing, pod = ""): boolean {
  return method === "POST" && path.endsWith(`${pod === "" ? "" : `/${pod}`}/binding`);
}

/** True for a write that promises the pod of this UID a device. */
export function isClaim({ method, path, body }: Passing, uid: string): boolean {
  return method === "PUT" && path.includes("/nodeledgers/") && body.includes(uid);
}

/** Starts an interposer for one binder, from the binder's own kubeconfig; it ends with its control plane. */
export async function interpose(plane: ControlPlane, name: string, kubeconfig: string): Promise<Interposer> {
  const { certPem, keyPem } = await plane.authority.issue({ name });
  const agent = new Agent({ keepAlive: true, ca: plane.caPem });
  const answers: Answered[] = [];
  const path = join(plane.folder, `${name}.kubeconfig`);
  const own: Interposer = { kubeconfig: path, watchDelay: 0, before: pass, after: pass, answers };
  const server = createServer({ cert: certPem, key: keyPem }, (incoming, response) => {
    const url = new URL(incoming.url ?? "", plane.url);
    const passing = url.searchParams.get("watch") ? watch(own, { url, agent, incoming, response }) : undefined;
    // A broken connection is for the binder to see, as one to the API server would be.
    (passing ?? call(own, answers, { url, agent, incoming, response })).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  plane.onStop(() => stop(server, agent));
  const here = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(path, (await readFile(kubeconfig, "utf8")).replace(plane.url, here), { mode: 0o600 });
  return own;
}

function pass(): undefined {
  return undefined;
}

async function stop(server: Server, agent: Agent): Promise<void> {
  agent.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

interface Exchange {
  readonly url: URL;
  readonly agent: Agent;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

async function call(own: Interposer, answers: Answered[], exchange: Exchange): Promise<void> {
  const { url, incoming, response } = exchange;
  const passing = { method: incoming.method ?? "", path: url.pathname, body: await text(incoming) };
  if ((await own.before(passing)) === "drop") {
    response.destroy();
    return;
  }
  const answer = await forward(exchange, passing.body);
  const body = await text(answer);
  const answered = { ...passing, status: answer.statusCode ?? 0 };
  answers.push(answered);
  await own.after(answered);
  if (response.destroyed) return;
  response.writeHead(answered.status, { "Content-Type": answer.headers["content-type"] ?? "text/plain" });
  response.end(body);
}

/** Chunks keep their order also when the delay is changed between them. */
async function watch(own: Interposer, exchange: Exchange): Promise<void> {
  const { response } = exchange;
  const answer = await forward(exchange, "");
  response.on("close", () => answer.destroy());
  response.writeHead(answer.statusCode ?? 0, { "Content-Type": answer.headers["content-type"] ?? "text/plain" });
  response.flushHeaders();
  let queue = Promise.resolve();
  const later = (act: () => void): void => {
    const due = Date.now() + own.watchDelay;
    queue = queue.then(() => new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())))).then(act);
  };
  answer.on("data", (chunk: Buffer) => later(() => void response.write(chunk)));
  answer.on("error", () => response.destroy());
  answer.on("end", () => later(() => void response.end()));
}

async function forward({ url, agent, incoming }: Exchange, body: string): Promise<IncomingMessage> {
  const { host: _host, connection: _connection, "transfer-encoding": _chunked, ...headers } = incoming.headers;
  const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
  const outgoing = request(url, { method: incoming.method, agent, headers: { ...headers, ...length } });
  outgoing.end(body);
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  return answer;
}
