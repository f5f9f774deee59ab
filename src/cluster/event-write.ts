import { randomUUID } from "node:crypto";
import type { Answer, Failure } from "./answer.ts";
import type { Connection } from "./connection.ts";
import {
  type EventDraft,
  eventName,
  eventNamespace,
  eventObject,
  type Occurrences,
  type Reporter,
  series,
} from "./event-object.ts";
import { patchObject } from "./patch.ts";
import { collectionPath, EVENTS } from "./resources.ts";

/** An event that has happened once or more, and what the API server knows of it. */
export interface Entry {
  readonly draft: EventDraft;
  readonly id: string;
  happened: Occurrences;
  /** How often it had happened by what is written; 0 as long as nothing is. */
  written: number;
}

/** A new entry for something that has happened just now. */
export function newEntry(draft: EventDraft, now: number): Entry {
  const id = randomUUID().replaceAll("-", "").slice(0, 16);
  return { draft, id, happened: { count: 1, first: now, last: now }, written: 0 };
}

/** Events of the same key are one event that repeats. */
export function eventKey({ type, reason, action, note, regarding }: EventDraft): string {
  const { apiVersion, kind, namespace, name, uid } = regarding;
  return JSON.stringify([type, reason, action, note, apiVersion, kind, namespace, name, uid]);
}

/**
 * Writes an entry as it is now: a new Event, or the count of the one that is there. One that the API server has
 * forgotten meanwhile (by default after an hour) is written anew. Gives why it failed, or nothing.
 */
export async function writeEvent(connection: Connection, by: Reporter, entry: Entry): Promise<Failure | undefined> {
  const { count } = entry.happened;
  const repeated = entry.written > 0 ? await repeat(connection, entry) : undefined;
  if (repeated !== undefined && repeated.kind !== "notFound") return conclude(entry, count, repeated);
  const answer = await connection.call({
    method: "POST",
    path: collectionPath(EVENTS, eventNamespace(entry.draft)),
    body: eventObject(entry.draft, by, entry),
    statusOnly: true,
  });
  // Nobody else makes an event of this name: an answer got lost, and the event is there, perhaps with a lower count.
  if (answer.kind === "conflict") entry.written = 1;
  return answer.kind === "conflict" ? undefined : conclude(entry, count, answer);
}

function conclude(entry: Entry, count: number, answer: Answer): Failure | undefined {
  if (answer.kind !== "ok") return answer;
  entry.written = count;
  return undefined;
}

function repeat(connection: Connection, { draft, id, happened }: Entry): Promise<Answer> {
  return patchObject(connection, {
    resource: EVENTS,
    namespace: eventNamespace(draft),
    name: eventName(draft, id),
    patch: { series: series(happened) },
    statusOnly: true,
  });
}
