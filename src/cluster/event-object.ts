import type { JsonObject } from "../protocol/json.ts";
import { microTime } from "./micro-time.ts";

/** What an event is about (core/v1 ObjectReference). */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for objects of the cluster. */
  readonly namespace?: string;
  readonly name: string;
  /** `kubectl describe` shows only events with the object's UID. */
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Something that people shall see with `kubectl describe`. */
export interface EventDraft {
  readonly type: "Normal" | "Warning";
  /** Why, in one word for machines, such as `DeviceAssigned`. */
  readonly reason: string;
  /** What was being done, in one word for machines, such as `Binding`. */
  readonly action: string;
  /** What happened, for people. Texts of more than 1,024 bytes are cut. */
  readonly note: string;
  readonly regarding: Regarding;
}

/** Who reports. */
export interface Reporter {
  /** A qualified name such as `berth.dev/binder`. */
  readonly controller: string;
  /** The process, such as its pod's name. */
  readonly instance: string;
}

/** How often an event has happened. */
export interface Occurrences {
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly first: number;
  readonly last: number;
}

/** Limits of the API server in bytes (k8s.io/kubernetes v1.37, pkg/apis/core/validation/events.go). */
const LIMITS = { note: 1024, word: 128, name: 253 } as const;

/**
 * An Event of events.k8s.io/v1 with every field that `eventTime` makes mandatory (there, legacyValidateEvent). It lives
 * in the namespace of what it is about; for objects of the cluster that is `default`.
 */
export function eventObject(draft: EventDraft, by: Reporter, { id, happened }: Happening): JsonObject {
  const { type, reason, action, note, regarding } = draft;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { namespace: eventNamespace(draft), name: eventName(draft, id) },
    eventTime: microTime(happened.first),
    reportingController: by.controller,
    reportingInstance: cutText(by.instance, LIMITS.word),
    action: cutText(action, LIMITS.word),
    reason: cutText(reason, LIMITS.word),
    type,
    note: cutText(note, LIMITS.note),
    regarding: { ...regarding },
    ...(happened.count > 1 && { series: series(happened) }),
  };
}

/** One event in the life of an object. */
export interface Happening {
  /** Makes the event's name unique among those of its object: letters and digits. */
  readonly id: string;
  readonly happened: Occurrences;
}

/** The name of an event: that of its object, cut if need be, and its id. */
export function eventName({ regarding }: EventDraft, id: string): string {
  return `${regarding.name.slice(0, LIMITS.name - 1 - id.length).replace(/[.-]+$/, "")}.${id}`;
}

/** The namespace that an event is written to. */
export function eventNamespace({ regarding }: EventDraft): string {
  return regarding.namespace ?? "default";
}

/** The part of an event that tells of its repetitions; a series has at least two. */
export function series({ count, last }: Occurrences): JsonObject {
  return { count, lastObservedTime: microTime(last) };
}

/** A text of at most so many bytes of UTF-8, cut between characters, with an ellipsis where something is missing. */
export function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text.toWellFormed(), "utf8");
  if (bytes.length <= limit) return text.toWellFormed();
  let end = limit - 3;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString("utf8", 0, end)}…`;
}
