import type { JsonObject } from "../protocol/json.ts";
import type { Connection } from "./connection.ts";
import type { Handler, Warn } from "./listeners.ts";
import type { EndReason, Reflection } from "./reflect.ts";
import { collectionPath, type Resource, resourceName } from "./resources.ts";
import { createStore } from "./store.ts";
import { supervise } from "./supervise.ts";
import { systemTiming, type Timing } from "./timing.ts";

/** What to follow. */
export interface InformerOptions {
  readonly connection: Connection;
  readonly resource: Resource;
  /** Only the objects of this namespace. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The fields to keep, such as `spec.nodeName`; name, namespace, UID and resourceVersion are always kept. */
  readonly paths: readonly string[];
  /** False for an object that is of no interest: it is treated as if it were not there. Sees the whole object. */
  keep?(object: JsonObject): boolean;
  /** Makes the cut-down object smaller still. */
  trim?(object: JsonObject): JsonObject;
  /**
   * How everything is listed: as a watch list (the default), or in pages, as it suits what there are many of. A watch
   * list takes kube-apiserver 1.37 three times the CPU, for it writes each object twice.
   */
  readonly listing?: "watch" | "pages";
  /**
   * A watch on which nothing has come for so long, in milliseconds, is opened anew from where it was. Default 75,000:
   * the API server sends a bookmark at least once a minute.
   */
  readonly staleAfter?: number;
  /** Default: the machine's clocks. */
  readonly timing?: Timing;
  /** Hears of whatever was survived; default: nobody. */
  readonly warn?: Warn;
}

/** How an informer is doing, for metrics and health. */
export interface InformerState {
  /** Such as `pods` or `nodeledgers.berth.dev`. */
  readonly resource: string;
  /** True once everything has been listed; stays true. */
  readonly synced: boolean;
  /** True while a watch is open and goes on from a complete list. */
  readonly connected: boolean;
  readonly objects: number;
  /** Milliseconds since the server was last heard of: an event, a bookmark, a page of a list. */
  readonly heardAgo: number;
  /** How often lists and watches were over, by reason. */
  readonly restarts: Readonly<Record<EndReason, number>>;
  readonly badObjects: number;
  readonly handlerErrors: number;
  /** What is wrong now, in words; absent when all is well. */
  readonly problem?: string;
}

/** The objects of a resource, followed for as long as the program runs, whatever the server does. */
export interface Informer {
  /** Settles when everything has been listed; never, when the informer is stopped before. */
  readonly whenSynced: Promise<void>;
  get(name: string, namespace?: string): JsonObject | undefined;
  values(): IterableIterator<JsonObject>;
  readonly size: number;
  /** The handler hears of every object that is there already as added. Gives the way out. */
  subscribe(handler: Handler): () => void;
  state(): InformerState;
  /** Ends the watch. The objects stay readable. */
  stop(): Promise<void>;
}

/** Starts at once; never gives up. Objects are plain JSON, with dates as strings, and are not to be changed. */
export function startInformer(options: InformerOptions): Informer {
  const {
    connection,
    namespace,
    labelSelector,
    fieldSelector,
    timing = systemTiming,
    warn = () => undefined,
  } = options;
  const resource = resourceName(options.resource);
  const store = createStore({ ...options, resource, timing, warn });
  const reflection: Reflection = {
    connection,
    path: collectionPath(options.resource, namespace),
    query: { labelSelector, fieldSelector },
    store,
  };
  const { staleAfter = 75_000, listing = "watch" } = options;
  const supervision = supervise(reflection, { resource, timing, warn, staleAfter, listing });
  return {
    whenSynced: supervision.whenSynced,
    get: store.get,
    values: store.values,
    get size() {
      return store.size;
    },
    subscribe: store.subscribe,
    state: () => ({ resource, objects: store.size, ...store.counts(), ...supervision.state() }),
    stop: supervision.stop,
  };
}
