import type { JsonObject } from "../protocol/json.ts";
import { cutDown, type PathTree, pathTree } from "../protocol/paths.ts";
import { type Complaints, complainer, createListeners, type Handler, type Listeners } from "./listeners.ts";
import { keyOf, metadataText } from "./metadata.ts";

/** What a store keeps. */
export interface StoreOptions extends Complaints {
  /** The fields to keep; name, namespace, UID and resourceVersion are always kept. */
  readonly paths: readonly string[];
  /** False for an object that is of no interest: it is treated as if it were not there. Sees the whole object. */
  keep?(object: JsonObject): boolean;
  /** Makes the cut-down object smaller still. */
  trim?(object: JsonObject): JsonObject;
}

/** A list under way: what it does not show is gone. */
export interface Round {
  /** Deletes what was not put since the round began. Without effect once another round has begun. */
  finish(): void;
}

/** The objects as last heard of, cut down, and whoever listens to them. */
export interface Store {
  /** All that {@link Store.put} looks at of an object; undefined where that is the whole object. */
  readonly wanted: PathTree | undefined;
  /**
   * Takes an object as it is now. One that cannot be read is counted, and what was known under its name stays; the
   * same object in the same version is no news.
   *
   * @param cut true when nothing but what is wanted was read of it
   */
  put(object: JsonObject, cut?: boolean): void;
  /** Takes an object away, unless another one has its name by now. */
  remove(object: JsonObject): void;
  begin(): Round;
  get(name: string, namespace?: string): JsonObject | undefined;
  values(): IterableIterator<JsonObject>;
  readonly size: number;
  /** The handler hears of every object that is there already as added. Gives the way out. */
  subscribe(handler: Handler): () => void;
  /** Objects that could not be read, and handlers that failed, since the start. */
  counts(): { readonly badObjects: number; readonly handlerErrors: number };
}

const ALWAYS = ["metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion"];

export function createStore(options: StoreOptions): Store {
  const { keep = () => true, trim = (object) => object } = options;
  const tree = pathTree([...ALWAYS, ...options.paths]);
  const listeners = createListeners(options);
  const shelf = createShelf(listeners);
  const complain = complainer(options, `An object of ${options.resource} cannot be read and is left as it was`);
  let seen: Set<string> | undefined;
  let badObjects = 0;
  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      badObjects++;
      complain(error);
    }
  };
  return {
    wanted: options.keep === undefined ? tree : undefined,
    put: (object, cut = false) =>
      guarded(() => {
        const key = keyOf(object);
        seen?.add(key);
        if (keep(object)) shelf.place(key, trim(cut ? object : cutDown(object, tree)));
        else shelf.drop(key);
      }),
    remove: (object) => guarded(() => shelf.drop(keyOf(object), metadataText(object, "uid"))),
    begin() {
      const mine = new Set<string>();
      seen = mine;
      return {
        finish() {
          if (seen !== mine) return;
          seen = undefined;
          for (const key of [...shelf.objects.keys()]) if (!mine.has(key)) shelf.drop(key);
        },
      };
    },
    get: (name, namespace = "") => shelf.objects.get(`${namespace}/${name}`),
    values: () => shelf.objects.values(),
    get size() {
      return shelf.objects.size;
    },
    subscribe(handler) {
      listeners.add(handler);
      for (const object of [...shelf.objects.values()]) listeners.tell(() => handler.add?.(object), handler);
      return () => listeners.remove(handler);
    },
    counts: () => ({ badObjects, handlerErrors: listeners.errors }),
  };
}

/** The objects by key; whatever changes is told. */
function createShelf(listeners: Listeners) {
  const objects = new Map<string, JsonObject>();
  const drop = (key: string, uid?: string): void => {
    const gone = objects.get(key);
    if (gone === undefined || (uid !== undefined && uid !== metadataText(gone, "uid"))) return;
    objects.delete(key);
    listeners.tell((handler) => handler.delete?.(gone));
  };
  const place = (key: string, object: JsonObject): void => {
    const known = objects.get(key);
    if (known !== undefined && metadataText(known, "uid") !== metadataText(object, "uid")) drop(key);
    const previous = objects.get(key);
    if (previous !== undefined && sameVersion(previous, object)) return;
    objects.set(key, object);
    if (previous === undefined) listeners.tell((handler) => handler.add?.(object));
    else listeners.tell((handler) => handler.update?.(object, previous));
  };
  return { objects, drop, place };
}

function sameVersion(one: JsonObject, other: JsonObject): boolean {
  const version = metadataText(one, "resourceVersion");
  return version !== "" && version === metadataText(other, "resourceVersion");
}
