import type { JsonObject } from "../../src/protocol/json.ts";
import type { Event, KubeObject, Ref } from "./objects.ts";
import { collectionOf, collectionPath, objectPath } from "./paths.ts";
import { type Call, type Connection, openTransport, type Transport } from "./transport.ts";

/** An answer of the API server that is not a success. */
export class ApiError extends Error {
  readonly status: number;
  /** The Status object's reason, such as `Conflict`; empty when the answer was none. */
  readonly reason: string;

  constructor(call: Call, status: number, text: string) {
    const answer = statusOf(text);
    super(`${call.method} ${call.path}: ${status} ${answer.message}`);
    this.name = "ApiError";
    this.status = status;
    this.reason = answer.reason;
  }
}

/** How a patch is written; the default is a JSON Merge Patch. */
export type PatchType = "merge" | "json" | "strategic" | "apply";

/** What a change is about. */
export interface ChangeOptions {
  readonly subresource?: string;
  readonly fieldManager?: string;
}

/** Which objects to list; without a namespace, those of all namespaces. */
export interface Listing {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** What a Binding may carry beside the node's name. */
export interface BindOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The API server as tests use it. Every method throws ApiError for an answer that is not 2xx. */
export interface Api {
  request<T = unknown>(call: Call): Promise<T>;
  create<T extends KubeObject>(object: T, options?: ChangeOptions): Promise<T>;
  get<T extends KubeObject>(ref: Ref & Partial<T>): Promise<T>;
  /** The object, or undefined where there is none. */
  find<T extends KubeObject>(ref: Ref & Partial<T>): Promise<T | undefined>;
  list<T extends KubeObject>(listing: Listing): Promise<T[]>;
  replace<T extends KubeObject>(object: T, options?: ChangeOptions): Promise<T>;
  patch<T extends KubeObject>(
    ref: Ref & Partial<T>,
    patch: unknown,
    options?: ChangeOptions & { type?: PatchType },
  ): Promise<T>;
  /** Deletes at once (grace 0 unless said otherwise); there is no kubelet that would finish a slow deletion. */
  remove(ref: Ref, options?: { readonly graceSeconds?: number }): Promise<void>;
  /** Deletes every object of a listing's kind and namespace. */
  removeAll(listing: Listing): Promise<void>;
  /** POSTs a Binding. */
  bind(pod: Ref, nodeName: string, options?: BindOptions): Promise<void>;
  /** The events about one object, oldest first. */
  events(object: Ref & { readonly metadata: { readonly uid?: string } }): Promise<Event[]>;
  close(): void;
}

const patchTypes: Readonly<Record<PatchType, string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** Connects to an API server; nothing is sent before the first call. */
export function connectApi(connection: Connection): Api {
  const transport = openTransport(connection);
  const request = <T>(call: Call): Promise<T> => ask<T>(transport, call);
  const get = <T extends KubeObject>(ref: Ref): Promise<T> => request<T>({ method: "GET", path: objectPath(ref) });
  return {
    request,
    get,
    create: (object, options = {}) =>
      request({ method: "POST", path: collectionOf(object), body: object, query: manager(options) }),
    find: (ref) => get<never>(ref).catch(absent),
    list: (listing) => list(transport, listing),
    replace: (object, options = {}) =>
      request({ method: "PUT", path: objectPath(object, options.subresource), body: object, query: manager(options) }),
    patch: (ref, patch, options = {}) =>
      request({
        method: "PATCH",
        path: objectPath(ref, options.subresource),
        body: patch,
        contentType: patchTypes[options.type ?? "merge"],
        query: { ...manager(options), force: options.type === "apply" ? true : undefined },
      }),
    remove: async (ref, options = {}) => {
      const query = { gracePeriodSeconds: options.graceSeconds ?? 0 };
      await request({ method: "DELETE", path: objectPath(ref), query });
    },
    removeAll: (listing) => removeAll(transport, listing),
    bind: (pod, nodeName, options = {}) => bind(transport, pod, { ...options, nodeName }),
    events: (object) => events(transport, object),
    close: () => transport.close(),
  };
}

async function ask<T>(transport: Transport, call: Call): Promise<T> {
  const reply = await transport.send(call);
  if (reply.status < 200 || reply.status > 299) throw new ApiError(call, reply.status, reply.text);
  // Answers such as /readyz are plain text.
  return (reply.text.startsWith("{") ? JSON.parse(reply.text) : reply.text) as T;
}

async function list<T extends KubeObject>(transport: Transport, listing: Listing): Promise<T[]> {
  const { apiVersion, kind, namespace, labelSelector, fieldSelector } = listing;
  const path = collectionPath(apiVersion, kind, namespace);
  const answer = await ask<{ items: JsonObject[] | null }>(transport, {
    method: "GET",
    path,
    query: { labelSelector, fieldSelector },
  });
  // Items of a list carry neither apiVersion nor kind.
  return (answer.items ?? []).map((item) => ({ ...item, apiVersion, kind }) as unknown as T);
}

async function removeAll(transport: Transport, listing: Listing): Promise<void> {
  const found = await list(transport, listing);
  const gone = found.map((object) =>
    ask(transport, { method: "DELETE", path: objectPath(object), query: { gracePeriodSeconds: 0 } }).catch(absent),
  );
  await Promise.all(gone);
}

async function bind(transport: Transport, pod: Ref, what: BindOptions & { nodeName: string }): Promise<void> {
  const { nodeName, annotations, uid, resourceVersion } = what;
  const metadata = { name: pod.metadata.name, annotations, uid, resourceVersion };
  const target = { apiVersion: "v1", kind: "Node", name: nodeName };
  const body = { apiVersion: "v1", kind: "Binding", metadata, target };
  await ask(transport, { method: "POST", path: objectPath(pod, "binding"), body });
}

async function events(transport: Transport, object: Parameters<Api["events"]>[0]): Promise<Event[]> {
  const { name, namespace, uid } = object.metadata;
  const selectors = [`involvedObject.name=${name}`, `involvedObject.kind=${object.kind}`];
  if (uid !== undefined) selectors.push(`involvedObject.uid=${uid}`);
  const fieldSelector = selectors.join(",");
  const found = await list<Event>(transport, {
    apiVersion: "v1",
    kind: "Event",
    namespace: namespace ?? "default",
    fieldSelector,
  });
  return found.sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
}

function manager(options: ChangeOptions): Readonly<Record<string, string | undefined>> {
  return { fieldManager: options.fieldManager };
}

function absent(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}

function statusOf(text: string): { readonly message: string; readonly reason: string } {
  try {
    const { message = text, reason = "" } = JSON.parse(text);
    return { message, reason };
  } catch {
    return { message: text, reason: "" };
  }
}
