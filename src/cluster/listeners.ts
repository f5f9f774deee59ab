import type { JsonObject } from "../protocol/json.ts";
import type { Timing } from "./timing.ts";

/** What somebody wants to hear of the objects. All are called at once, one after the other, and are not awaited. */
export interface Handler {
  add?(object: JsonObject): void;
  update?(object: JsonObject, previous: JsonObject): void;
  /** With the object as it was last known. An object replaced under its name is deleted first, then added. */
  delete?(object: JsonObject): void;
}

/** Tells people of something that went wrong and was survived. */
export type Warn = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Where complaints go, and by which clock. */
export interface Complaints {
  /** For messages, such as `pods`. */
  readonly resource: string;
  readonly timing: Timing;
  readonly warn: Warn;
}

/** Those who listen. One that throws, or rejects, keeps none of the others from hearing. */
export interface Listeners {
  add(handler: Handler): void;
  remove(handler: Handler): void;
  tell(call: (handler: Handler) => void, only?: Handler): void;
  /** How often a handler failed since the start. */
  readonly errors: number;
}

export function createListeners(to: Complaints): Listeners {
  const handlers = new Set<Handler>();
  const complain = complainer(to, `A handler of ${to.resource} failed, the others go on`);
  let errors = 0;
  const failed = (error: unknown): void => {
    errors++;
    complain(error);
  };
  const tellOne = (handler: Handler, call: (handler: Handler) => unknown): void => {
    try {
      const result = call(handler);
      // An async function may stand where a handler is asked for; unheard, its rejection would end the process.
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
  return {
    add: (handler) => void handlers.add(handler),
    remove: (handler) => void handlers.delete(handler),
    tell(call, only) {
      for (const handler of only === undefined ? [...handlers] : [only]) tellOne(handler, call);
    },
    get errors() {
      return errors;
    },
  };
}

/** How often the same complaint is made at most, in milliseconds. */
const EVERY = 60_000;

/**
 * Gives a function that warns of an error under one heading, at most once a minute, and tells how often it was called
 * in between: what goes wrong for one object often goes wrong for thousands.
 */
export function complainer(to: Complaints, heading: string): (error: unknown) => void {
  let last = Number.NEGATIVE_INFINITY;
  let times = 0;
  return (error) => {
    times++;
    const now = to.timing.elapsed();
    if (now - last < EVERY) return;
    to.warn(heading, { problem: error instanceof Error ? error.message : String(error), times });
    last = now;
    times = 0;
  };
}
