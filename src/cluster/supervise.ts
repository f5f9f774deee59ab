import type { Complaints } from "./listeners.ts";
import { type End, type EndReason, listAll, type Reflection, type WatchStart, watchOnce } from "./reflect.ts";
import { backoffDelay, pause, type Timing } from "./timing.ts";
import { guard } from "./watchdog.ts";

/** How a reflection is kept alive. */
export interface SupervisionOptions extends Complaints {
  /** Milliseconds of silence after which a watch counts as dead. */
  readonly staleAfter: number;
  /** How everything is listed as long as that works. */
  readonly listing: "watch" | "pages";
}

/** A reflection that is begun again whenever it is over. */
export interface Supervision {
  readonly whenSynced: Promise<void>;
  state(): SupervisionState;
  stop(): Promise<void>;
}

/** Its part of the informer's state. */
export interface SupervisionState {
  readonly synced: boolean;
  readonly connected: boolean;
  readonly heardAgo: number;
  readonly restarts: Readonly<Record<EndReason, number>>;
  readonly problem?: string;
}

/** Between restarts: long enough to spare a server that comes up, short enough for binds that wait for a node. */
const BACKOFF = { first: 200, most: 10_000 };

/** After so many failures in a row the version itself is in doubt: a restored etcd may never have heard of it. */
const DOUBT_AFTER = 4;

/** A watch that lived so long, in milliseconds, was a good one although nothing happened on it. */
const LONG_LIFE = 5_000;

/** How far things have got. */
interface Course {
  /** Where to watch from; undefined when everything has to be listed. */
  version: string | undefined;
  /** How to list next: by a watch list, in pages, or, after pages have expired under way, all at once. */
  list: "watch" | "pages" | "whole";
  /** False once the server has said that it does not know watch lists. */
  knowsWatchLists: boolean;
  synced: boolean;
  connected: boolean;
  heardAt: number;
  /** Ends in a row without an event between them. */
  failures: number;
  problem: string | undefined;
}

/** Lists and watches until stopped. */
export function supervise(reflection: Reflection, options: SupervisionOptions): Supervision {
  const { timing, warn, resource } = options;
  const stopping = new AbortController();
  const { promise: whenSynced, resolve: synced } = Promise.withResolvers<void>();
  const restarts: Record<EndReason, number> = { ended: 0, expired: 0, refused: 0, broken: 0, garbage: 0, stale: 0 };
  const course: Course = {
    version: undefined,
    list: options.listing,
    knowsWatchLists: true,
    synced: false,
    connected: false,
    heardAt: timing.elapsed(),
    failures: 0,
    problem: undefined,
  };
  const attempt: Attempt = { reflection, course, options, stopping: stopping.signal, synced };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const end = await listAndWatch(attempt).catch(
        (error: unknown): End => ({ reason: "broken", message: String(error) }),
      );
      course.connected = false;
      if (stopping.signal.aborted) return;
      restarts[end.reason]++;
      const wait = plan(course, end, timing);
      if (end.reason !== "ended") {
        course.problem = end.message;
        warn(`Following ${resource} was interrupted`, { ...end, failures: course.failures, wait });
      }
      await pause(timing, wait, stopping.signal);
    }
  };
  const running = run();
  return {
    whenSynced,
    state: () => ({
      synced: course.synced,
      connected: course.connected,
      heardAgo: timing.elapsed() - course.heardAt,
      restarts: { ...restarts },
      ...(course.problem !== undefined && { problem: course.problem }),
    }),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

interface Attempt {
  readonly reflection: Reflection;
  readonly course: Course;
  readonly options: SupervisionOptions;
  readonly stopping: AbortSignal;
  synced(): void;
}

async function listAndWatch(attempt: Attempt): Promise<End> {
  const { course, reflection, options } = attempt;
  const heard = (): void => {
    course.heardAt = options.timing.elapsed();
  };
  if (course.version === undefined && course.list !== "watch") {
    const listed = await listAll(reflection, { paged: course.list === "pages", heard });
    if (!("version" in listed)) return listed;
    listedAll(attempt, listed.version);
  }
  return watchGuarded(attempt, heard);
}

function listedAll({ course, options, synced }: Attempt, version: string): void {
  course.version = version;
  course.list = course.knowsWatchLists ? options.listing : "pages";
  course.synced = true;
  synced();
}

/** Watches under the eyes of a watchdog. */
async function watchGuarded(attempt: Attempt, heard: () => void): Promise<End> {
  const { course, reflection, options, stopping } = attempt;
  const { timing, staleAfter } = options;
  const start: WatchStart = course.version === undefined ? { everything: true } : { version: course.version };
  const session = new AbortController();
  const release = guard(timing, { staleAfter, heardAt: () => course.heardAt, bark: () => session.abort() });
  const begun = timing.elapsed();
  heard();
  const well = (): void => {
    if (course.version === undefined) return;
    course.connected = true;
    course.problem = undefined;
  };
  const calls = {
    heard() {
      heard();
      well();
    },
    reached(version: string, complete: boolean) {
      if (course.version === undefined && !complete) return;
      if (complete) listedAll(attempt, version);
      else course.failures = 0;
      course.version = version || course.version;
      well();
    },
  };
  const seconds = Math.round(300 + 300 * timing.random());
  const signal = AbortSignal.any([session.signal, stopping]);
  const end = await watchOnce(reflection, start, calls, { signal, seconds });
  release();
  if (end.reason === "ended" && timing.elapsed() - begun >= LONG_LIFE) course.failures = 0;
  if (!session.signal.aborted) return end;
  return { reason: "stale", message: `nothing came on the watch of ${reflection.path} for ${staleAfter} ms` };
}

/** Where to go on after an end, and after how many milliseconds. */
function plan(course: Course, end: End, timing: Timing): number {
  const listing = course.version === undefined;
  if (listing) course.list = nextList(course, end);
  if (end.reason === "expired" || end.reason === "garbage") course.version = undefined;
  if (end.reason === "ended" && course.failures === 0 && !listing) return 0;
  course.failures++;
  if (course.failures >= DOUBT_AFTER) course.version = undefined;
  const wait = backoffDelay(BACKOFF, course.failures, timing.random);
  return Math.max(wait, Math.min(end.retryAfter ?? 0, BACKOFF.most));
}

/** Watch lists and lists take turns as long as they fail: what is wrong with one may be right with the other. */
function nextList(course: Course, { reason, status }: End): Course["list"] {
  if (course.list === "pages" && reason === "expired") return "whole";
  if (course.list !== "watch") return course.knowsWatchLists ? "watch" : "pages";
  // Servers that lack them refuse the parameters (k8s.io/apimachinery v0.37, meta/internalversion/validation).
  if (status === 400 || status === 422) course.knowsWatchLists = false;
  return "pages";
}
