import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { ACCOUNT, NAMESPACE } from "./binder.ts";

/** One request on its way to the API server. */
export interface Asked {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly watch: boolean;
}

/** What happens instead of passing the request on and the answer back. */
export type Misdeed =
  /** Answered here; the API server hears nothing. */
  | { readonly status: number; readonly text: string }
  /** The connection is cut. */
  | "cut"
  /** Nobody answers, and the API server hears nothing. */
  | "hang"
  /** The API server takes it, and its answer is lost. */
  | "swallow"
  /** The API server is sent it twice, and the second answer counts. */
  | "twice";

/** Tells what becomes of a request; may do something first, which then happens just before it arrives. */
export type Fault = (asked: Asked) => Misdeed | undefined | Promise<Misdeed | undefined>;

/** Stands between a binder and the API server. */
export interface ApiProxy {
  /** A kubeconfig that leads here. */
  readonly kubeconfig: string;
  /** Undefined: everything is passed on. */
  fault: Fault | undefined;
  /** All requests so far, those that came to grief too. */
  readonly asked: readonly Asked[];
  /** Breaks the watches that are open now. */
  cutWatches(): void;
  /** Nothing comes any more on the watches that are open now, and they stay open. */
  muteWatches(): void;
}

interface Watch {
  readonly answer: ServerResponse;
  muted: boolean;
}

/**
 * Starts a proxy; it ends with the control plane.
 *
 * @param kubeconfig whose credentials it hands on; absent: those of the binder's account
 */
export async function startApiProxy(plane: ControlPlane, name: string, kubeconfig?: string): Promise<ApiProxy> {
  const { certPem, keyPem } = await plane.authority.issue({ name });
  const server = createServer({ cert: certPem, key: keyPem });
  const agent = new Agent({ keepAlive: true, ca: plane.caPem });
  const watches = new Set<Watch>();
  const asked: Asked[] = [];
  server.on("request", async (question, answer) => {
    const body = await buffer(question).catch(() => undefined);
    if (body === undefined) return;
    const url = new URL(question.url ?? "/", plane.url);
    const one = { method: question.method ?? "", path: url.pathname, watch: url.searchParams.get("watch") === "true" };
    asked.push(one);
    const misdeed = await proxy.fault?.(one);
    const pass = (): Promise<IncomingMessage> => forward(agent, { question, answer, url, body });
    await act(misdeed, answer, pass, one.watch ? watches : undefined).catch(() => answer.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  plane.onStop(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const proxy: ApiProxy = {
    kubeconfig: await kubeconfigFor(
      plane,
      { name, kubeconfig },
      `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ),
    fault: undefined,
    asked,
    cutWatches() {
      for (const { answer } of watches) answer.destroy();
    },
    muteWatches() {
      for (const watch of watches) watch.muted = true;
    },
  };
  return proxy;
}

async function kubeconfigFor(
  plane: ControlPlane,
  { name, kubeconfig }: { readonly name: string; readonly kubeconfig: string | undefined },
  url: string,
): Promise<string> {
  const text = await readFile(kubeconfig ?? (await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT)), "utf8");
  const path = join(plane.folder, `${name}.kubeconfig`);
  await writeFile(path, text.replaceAll(plane.url, url), { mode: 0o600 });
  return path;
}

interface Passage {
  readonly question: IncomingMessage;
  readonly answer: ServerResponse;
  readonly url: URL;
  readonly body: Buffer;
}

function forward(agent: Agent, { question, answer, url, body }: Passage): Promise<IncomingMessage> {
  const { host: _, connection: __, ...headers } = question.headers;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const upstream = request(url, { method: question.method, agent, headers }, resolve);
  upstream.on("error", reject);
  answer.on("close", () => upstream.destroy());
  upstream.end(body);
  return promise;
}

async function act(
  misdeed: Misdeed | undefined,
  answer: ServerResponse,
  pass: () => Promise<IncomingMessage>,
  watches: Set<Watch> | undefined,
): Promise<void> {
  if (misdeed === "hang") return;
  if (misdeed === "cut") return void answer.destroy();
  if (typeof misdeed === "object") {
    const head = { "Content-Type": "application/json" };
    return void answer.writeHead(misdeed.status, head).end(misdeed.text);
  }
  if (misdeed === "twice") await buffer(await pass());
  const reply = await pass();
  if (misdeed === "swallow") return void reply.resume();
  giveBack(reply, answer, watches);
}

function giveBack(reply: IncomingMessage, answer: ServerResponse, watches: Set<Watch> | undefined): void {
  const { connection: _, "transfer-encoding": __, ...headers } = reply.headers;
  const watch: Watch = { answer, muted: false };
  watches?.add(watch);
  answer.on("close", () => watches?.delete(watch));
  answer.writeHead(reply.statusCode ?? 502, headers);
  answer.flushHeaders();
  reply.on("data", (chunk) => watch.muted || answer.write(chunk));
  reply.on("end", () => answer.end());
  reply.on("error", () => answer.destroy());
}

/** A Status of the API server. */
export function status(
  code: number,
  reason: string,
  message = reason,
): { readonly status: number; readonly text: string } {
  const text = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message });
  return { status: code, text };
}
