import type * as http from "node:http";
import type { JsonObject } from "../protocol/json.ts";
import { type Arrived, afterTest, connectTo, type FakeApi, fakeApi, refuse, reply } from "./api-fixture.ts";
import { type InformerOptions, startInformer } from "./informer.ts";
import { metadataText } from "./metadata.ts";
import { PODS } from "./resources.ts";

/** Deals with a request instead of the cluster when it gives true. */
export type Fault = (arrived: Arrived, answer: http.ServerResponse) => boolean;

/** A server that lists and watches as an API server does, and fails as it is told to. */
export interface FakeCluster extends FakeApi {
  /** Creates or changes an object; gives its version. */
  put(name: string, spec?: JsonObject, uid?: string): string;
  remove(name: string): void;
  /** Changes the objects without any watch hearing of it, and forgets what happened before. */
  silently(work: () => void): void;
  /** Sends a line to every open watch. */
  send(line: string): void;
  /** Ends every open watch in good order. */
  endWatches(): void;
  readonly watches: number;
  /** The objects as they are. */
  now(): readonly JsonObject[];
  /** Asked first about every request; undefined for a server that is well. */
  fault: Fault | undefined;
  /** The requests so far: `list`, `watch`, `watch list`. */
  asked(): readonly string[];
}

/** Starts an empty one, stopped after the test. */
export async function fakeCluster(): Promise<FakeCluster> {
  const etcd = fakeEtcd();
  const api = await fakeApi((arrived, answer) => {
    if (cluster.fault?.(arrived, answer) === true) return;
    if (arrived.method !== "GET") refuse(answer, 405, "MethodNotAllowed");
    else if (arrived.query.get("watch") === "true") etcd.watch(arrived.query, answer);
    else reply(answer, 200, etcd.list(arrived.query));
  });
  const cluster: FakeCluster = {
    ...api,
    fault: undefined,
    put: etcd.put,
    remove: etcd.remove,
    silently: etcd.silently,
    send: (line) => {
      for (const watch of etcd.watches) watch.write(`${line}\n`);
    },
    endWatches() {
      for (const watch of etcd.watches) watch.end();
      etcd.watches.clear();
    },
    get watches() {
      return etcd.watches.size;
    },
    now: () => [...etcd.objects.values()],
    asked: () => api.arrived.map(({ query }) => asked(query)),
  };
  return cluster;
}

/** Objects, their versions, what happened to them, and who watches. */
function fakeEtcd() {
  const objects = new Map<string, JsonObject>();
  const watches = new Set<http.ServerResponse>();
  const past = { version: 100, oldest: 100, quiet: false, events: [] as { version: number; line: string }[] };
  const happen = (type: string, metadata: JsonObject, spec: JsonObject): JsonObject => {
    past.version++;
    const object = { metadata: { ...metadata, resourceVersion: String(past.version) }, spec };
    const line = JSON.stringify({ type, object });
    past.events.push({ version: past.version, line });
    if (!past.quiet) for (const watch of watches) watch.write(`${line}\n`);
    return object;
  };
  return {
    watches,
    objects,
    put(name: string, spec: JsonObject = {}, uid = `uid-${name}`): string {
      const type = objects.has(name) ? "MODIFIED" : "ADDED";
      objects.set(name, happen(type, { name, namespace: "a", uid, labels: {} }, spec));
      return String(past.version);
    },
    remove(name: string): void {
      const { metadata, spec } = objects.get(name) ?? {};
      if (objects.delete(name)) happen("DELETED", Object(metadata), Object(spec));
    },
    silently(work: () => void): void {
      past.quiet = true;
      work();
      Object.assign(past, { quiet: false, events: [], oldest: past.version });
    },
    list(query: URLSearchParams): JsonObject {
      const from = Number(query.get("continue") ?? 0);
      const end = from + Number(query.get("limit") ?? objects.size);
      const more = end < objects.size ? { continue: String(end) } : {};
      const metadata = { resourceVersion: String(past.version), ...more };
      return { kind: "PodList", metadata, items: [...objects.values()].slice(from, end) };
    },
    watch(query: URLSearchParams, answer: http.ServerResponse): void {
      answer.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
      answer.on("close", () => watches.delete(answer));
      const from = Number(query.get("resourceVersion") ?? past.version);
      if (from < past.oldest) return void answer.end(`${expired}\n`);
      watches.add(answer);
      for (const { version, line } of past.events) if (version > from) answer.write(`${line}\n`);
      if (query.get("sendInitialEvents") !== "true") return;
      for (const object of objects.values()) answer.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
      answer.write(`${bookmark(past.version, true)}\n`);
    },
  };
}

/** What the stream says when its version is too old. */
export const expired = JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 410, message: "too old" } });

/** A bookmark; `complete` ends the initial objects of a watch list. */
export function bookmark(version: number | string, complete = false): string {
  const annotations = complete ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  return JSON.stringify({
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: String(version), ...annotations } },
  });
}

function asked(query: URLSearchParams): string {
  if (query.get("watch") !== "true") return "list";
  return query.get("sendInitialEvents") === "true" ? "watch list" : "watch";
}

/** Follows the cluster's pods, and writes down what a handler hears and what is warned of. */
export async function follow(cluster: FakeApi, options: Partial<InformerOptions> = {}) {
  const warnings: string[] = [];
  const heard: string[] = [];
  const connection = await connectTo(cluster);
  const warn = (message: string, fields = {}) => void warnings.push(`${message} ${JSON.stringify(fields)}`);
  const informer = startInformer({ connection, resource: PODS, paths: ["spec.nodeName"], warn, ...options });
  afterTest(() => informer.stop());
  informer.subscribe({
    add: (object) => void heard.push(`add ${metadataText(object, "name")}`),
    update: (object) => void heard.push(`update ${metadataText(object, "name")}`),
    delete: (object) => void heard.push(`delete ${metadataText(object, "name")}`),
  });
  const names = (): string[] => [...informer.values()].map((object) => metadataText(object, "name"));
  return { informer, heard, warnings, names };
}
