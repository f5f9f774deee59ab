import { ShapeError } from "../protocol/scan.ts";
import type { Failure } from "./answer.ts";
import type { Connection, Query } from "./connection.ts";
import { type ListPage, readListPage } from "./list-page.ts";
import { metadataText } from "./metadata.ts";
import type { Store } from "./store.ts";
import { GarbageError, readEvent, readLines, type WatchEvent } from "./watch-stream.ts";

/** What is reflected into which store. */
export interface Reflection {
  readonly connection: Connection;
  /** The path of the collection. */
  readonly path: string;
  /** Label and field selectors. */
  readonly query: Query;
  readonly store: Store;
}

/**
 * Why a watch or list is over. `ended`: by the server, in good order. `expired`: the version is too old, only a list
 * helps. `refused`: 4xx. `broken`: connection or server failed. `garbage`: something that is neither list nor event.
 * `stale`: nothing came for too long.
 */
export type EndReason = "ended" | "expired" | "refused" | "broken" | "garbage" | "stale";

/** How a watch or list ended. */
export interface End {
  readonly reason: EndReason;
  readonly message: string;
  /** The HTTP status of a refusal. */
  readonly status?: number;
  readonly retryAfter?: number;
}

/**
 * Objects per page of a list, as client-go has it (k8s.io/client-go v0.37, tools/pager): for each page kube-apiserver
 * 1.37 walks over everything that is left, so that five times the pages take it twice the CPU altogether.
 */
const PAGE = 500;

/** Objects that are taken in between two looks at what else there is to do. */
const AT_ONCE = 50;

/**
 * Lists everything into the store, page after page; what is not listed is gone from it afterwards. Without
 * `resourceVersion`, and so never older than what was seen before. Gives the version to watch from, or why not.
 */
export async function listAll(
  reflection: Reflection,
  options: { readonly paged: boolean; heard(): void },
): Promise<{ readonly version: string } | End> {
  const round = reflection.store.begin();
  const limit = options.paged ? PAGE : undefined;
  let page = await listPage(reflection, { limit });
  for (;;) {
    if ("reason" in page) return page;
    options.heard();
    // Asked for before this page is taken in, so that the server works meanwhile.
    const following = page.next === "" ? undefined : listPage(reflection, { limit, continue: page.next });
    if (!(await takeIn(page, reflection.store))) return noList(reflection.path);
    if (following === undefined) {
      round.finish();
      return { version: page.version };
    }
    page = await following;
  }
}

/** False when the page breaks off or is not JSON; what came before that is in the store. */
async function takeIn(page: ListPage, store: Store): Promise<boolean> {
  try {
    let taken = 0;
    for (const item of page.items()) {
      store.put(item, store.wanted !== undefined);
      if (++taken % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return true;
  } catch (error) {
    if (error instanceof ShapeError) return false;
    throw error;
  }
}

async function listPage({ connection, path, query, store }: Reflection, part: Query): Promise<ListPage | End> {
  const call = { method: "GET", path, query: { ...query, ...part }, within: 60_000, asBytes: true } as const;
  const answer = await connection.call(call);
  if (answer.kind !== "ok") return refusal(answer);
  return readPage(answer.bytes, store) ?? noList(path);
}

function readPage(bytes: Uint8Array | undefined, store: Store): ListPage | undefined {
  try {
    return bytes && readListPage(bytes, store.wanted);
  } catch (error) {
    if (error instanceof ShapeError) return undefined;
    throw error;
  }
}

function noList(path: string): End {
  return { reason: "garbage", message: `${path} was answered with something that is no list` };
}

/** What a watch has to tell while it goes on. */
export interface WatchCalls {
  /** Bytes have come, be it half an event. */
  heard(): void;
  /**
   * An event has been taken in, with its version, empty for an object without one. `complete` ends the initial objects
   * of a watch list; before that, versions come in no order.
   */
  reached(version: string, complete: boolean): void;
}

/** From where a watch goes on: from a version, or, as a watch list, from nothing. */
export type WatchStart = { readonly version: string } | { readonly everything: true };

/** Watches until that ends, whyever, and keeps the store up to date meanwhile. Never rejects. */
export async function watchOnce(
  reflection: Reflection,
  start: WatchStart,
  calls: WatchCalls,
  options: { readonly signal: AbortSignal; readonly seconds: number },
): Promise<End> {
  const { connection, path, query, store } = reflection;
  const watched = await connection.watch({
    path,
    query: { ...query, ...parameters(start), watch: true, allowWatchBookmarks: true, timeoutSeconds: options.seconds },
    signal: options.signal,
  });
  if (watched.kind !== "open") return refusal(watched);
  calls.heard();
  const round = "everything" in start ? store.begin() : undefined;
  try {
    for await (const lines of readLines(watched.body)) {
      calls.heard();
      for (const line of lines) {
        const end = apply(readEvent(line), store, (version, complete) => {
          if (complete) round?.finish();
          calls.reached(version, complete);
        });
        if (end !== undefined) return end;
      }
    }
    return { reason: "ended", message: `the watch of ${path} was ended by the server` };
  } catch (error) {
    if (error instanceof GarbageError) return { reason: "garbage", message: `${path}: ${error.message}` };
    const { code = "closed" } = error as { readonly code?: string };
    return { reason: "broken", message: `the watch of ${path} broke: ${code}` };
  }
}

function parameters(start: WatchStart): Query {
  if ("version" in start) return { resourceVersion: start.version };
  return { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
}

function apply(
  event: WatchEvent,
  store: Store,
  reached: (version: string, complete: boolean) => void,
): End | undefined {
  switch (event.kind) {
    case "put":
    case "delete":
      if (event.kind === "put") store.put(event.object);
      else store.remove(event.object);
      reached(metadataText(event.object, "resourceVersion"), false);
      return undefined;
    case "bookmark":
      reached(event.version, event.complete);
      return undefined;
    case "error":
      return { reason: event.status === 410 ? "expired" : "broken", message: `the watch ended: ${event.message}` };
  }
}

function refusal(failure: Failure): End {
  const { message, status } = failure;
  if (failure.kind === "unknown") return { reason: "broken", message };
  return {
    reason: status === 410 ? "expired" : "refused",
    message,
    ...(status !== undefined && { status }),
    ...(failure.retryAfter !== undefined && { retryAfter: failure.retryAfter }),
  };
}
