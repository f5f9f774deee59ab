import { Agent } from "undici";
import { field, type Json, type JsonObject } from "../protocol/json.ts";
import { readObject } from "../protocol/outer.ts";
import { parseText } from "../protocol/read.ts";
import { type ExtenderAnswer, readBindAnswer, readFilterAnswer, readScores } from "./extender-answer.ts";
import { extenderTls } from "./extender-tls.ts";
import type { ExtenderSettings } from "./policy-schema.ts";

/** Which pod an extender is to bind. */
export interface PodToBind {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** One extender, called as kube-scheduler calls it. Every call rejects with an {@link ExtenderError}. */
export interface Extender {
  /** Its address without path and credentials, for people. */
  readonly name: string;
  readonly settings: ExtenderSettings;
  /** Whether the pod is its business: it asks for a resource that the extender manages, or it manages all. */
  interestedIn(pod: JsonObject): boolean;
  filter(pod: JsonObject, nodes: readonly JsonObject[]): Promise<ExtenderAnswer>;
  /** Scores by node, as the extender gives them: 0…10, for the nodes that it names. */
  prioritize(pod: JsonObject, nodes: readonly JsonObject[]): Promise<ReadonlyMap<string, number>>;
  bind(pod: PodToBind, node: string): Promise<void>;
  close(): Promise<void>;
}

/** An extender did not do what it was asked. Message: a sentence for a pod's event, without secrets of the URL. */
export class ExtenderError extends Error {}

/** kube-scheduler's when the file says none: `DefaultExtenderTimeout` in pkg/scheduler/extender.go, in milliseconds. */
const DEFAULT_TIMEOUT = 5000;
/** An answer that is longer is none. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Prepares to call an extender: `HTTPExtender` of kube-scheduler v1.37.2.
 *
 * @throws an error whose message is for people, when a certificate cannot be read
 */
export async function createExtender(settings: ExtenderSettings): Promise<Extender> {
  const { origin } = new URL(settings.urlPrefix);
  // One deadline is enough, and it may be long.
  const limits = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: MOST_BYTES };
  const agent = new Agent({ ...limits, connect: await extenderTls(settings) });
  const managed = new Set(settings.managedResources.map(({ name }) => name));
  const send = caller(agent, settings, origin);
  return {
    name: origin,
    settings,
    interestedIn: (pod) => managed.size === 0 || asksFor(pod, managed),
    filter: async (pod, nodes) =>
      send(settings.filterVerb, argsOf(settings, pod, nodes), (body) => readFilterAnswer(readObject(body), settings)),
    prioritize: async (pod, nodes) =>
      send(settings.prioritizeVerb, argsOf(settings, pod, nodes), (body) => readScores(parse(body))),
    bind: async ({ namespace, name, uid }, node) => {
      const args = { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node };
      await send(settings.bindVerb, args, (body) => readBindAnswer(readObject(body)));
    },
    close: () => agent.destroy(),
  };
}

function argsOf({ nodeCacheCapable }: ExtenderSettings, pod: JsonObject, nodes: readonly JsonObject[]): JsonObject {
  return nodeCacheCapable
    ? { Pod: pod, Nodes: null, NodeNames: nodes.map(nameOf) }
    : { Pod: pod, Nodes: { metadata: {}, items: nodes }, NodeNames: null };
}

type Send = <T>(verb: string, args: JsonObject, read: (body: Uint8Array) => T) => Promise<T>;

/** Sends to one extender; whatever goes wrong is told in one sentence. */
function caller(agent: Agent, settings: ExtenderSettings, origin: string): Send {
  const { base, authorization } = splitUrl(settings.urlPrefix);
  const timeout = settings.httpTimeout === 0 ? DEFAULT_TIMEOUT : Math.max(1, settings.httpTimeout / 1e6);
  return async (verb, args, read) => {
    const failed = (why: string) => new ExtenderError(`extender at ${origin} failed to ${verb}: ${why}`);
    try {
      const url = new URL(`${base}/${verb}`);
      const signal = AbortSignal.timeout(timeout);
      const { statusCode, body } = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "POST",
        headers: { "content-type": "application/json", ...(authorization && { authorization }) },
        body: JSON.stringify(args),
        signal,
      });
      const bytes = new Uint8Array(await body.arrayBuffer());
      if (statusCode !== 200) throw failed(`it answered with status ${statusCode}`);
      return read(bytes);
    } catch (error) {
      if (error instanceof ExtenderError) throw error;
      throw failed(error instanceof Error && error.name === "TimeoutError" ? `no answer in ${timeout} ms` : why(error));
    }
  };
}

function why(error: unknown): string {
  const { message = String(error), code } = error as { message?: string; code?: string };
  return message || code || "no answer";
}

/** The part before the verb, and what a `user:secret@` in it becomes: Go's client sends it as Basic credentials. */
function splitUrl(urlPrefix: string): { readonly base: string; readonly authorization?: string } {
  const url = new URL(urlPrefix);
  const credentials = [url.username, url.password].map(decodeURIComponent);
  url.username = "";
  url.password = "";
  const base = url.href.replace(/\/+$/, "");
  if (credentials.every((part) => part === "")) return { base };
  return { base, authorization: `Basic ${Buffer.from(credentials.join(":")).toString("base64")}` };
}

function parse(body: Uint8Array): Json {
  return parseText(body, "the body is not valid JSON");
}

function nameOf(node: JsonObject): string {
  const name = field(field(node, "metadata"), "name");
  return typeof name === "string" ? name : "";
}

/** `IsInterested`: by containers and init containers, requests and limits. */
function asksFor(pod: JsonObject, resources: ReadonlySet<string>): boolean {
  const spec = field(pod, "spec");
  const containers = ["containers", "initContainers"].flatMap((key) => {
    const list = field(spec, key);
    return Array.isArray(list) ? (list as readonly Json[]) : [];
  });
  return containers.some((container) =>
    ["requests", "limits"].some((part) => {
      const list = field(field(container, "resources"), part);
      return Object.keys((list ?? {}) as JsonObject).some((name) => resources.has(name));
    }),
  );
}
