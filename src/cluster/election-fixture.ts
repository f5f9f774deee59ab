import type { JsonObject } from "../protocol/json.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./connection.ts";
import { metadataText } from "./metadata.ts";
import type { Timing } from "./timing.ts";

/** A world of its own: time passes from event to event, and all that an event sets off happens before the next. */
export function createWorld() {
  let time = 0;
  let events: { readonly at: number; readonly run: () => void }[] = [];
  const at = (when: number, run: () => void): (() => void) => {
    const event = { at: Math.max(when, time), run };
    events.push(event);
    return () => {
      events = events.filter((other) => other !== event);
    };
  };
  return {
    time: () => time,
    at,
    async until(end: number, check: () => void): Promise<void> {
      for (;;) {
        const next = events.reduce((one, other) => (other.at < one.at ? other : one), {
          at: end,
          run: () => undefined,
        });
        events = events.filter((event) => event !== next);
        time = next.at;
        check();
        next.run();
        // Enough turns for every promise that the event has settled; waiting for a timer would take far longer.
        for (let turn = 0; turn < 40; turn++) await undefined;
        check();
        if (time >= end) return;
      }
    },
  };
}
export type World = ReturnType<typeof createWorld>;

/** One Lease, written only under the version that the writer has seen. */
export function createServer() {
  let lease: JsonObject | undefined;
  let version = 0;
  const store = (body: JsonObject): Answer => {
    version++;
    const metadata = { ...Object(body["metadata"]), uid: "u", resourceVersion: String(version) };
    lease = { ...body, metadata };
    return { kind: "ok", status: 200, object: lease };
  };
  const refused = (kind: "notFound" | "conflict"): Answer => ({ kind, status: 404, reason: "", message: kind });
  return {
    lease: () => lease,
    handle({ method, body }: Call): Answer {
      if (method === "POST") return lease === undefined ? store(body as JsonObject) : refused("conflict");
      if (lease === undefined) return refused("notFound");
      if (method === "GET") return { kind: "ok", status: 200, object: lease };
      const seen = metadataText(body as JsonObject, "resourceVersion");
      return seen === String(version) ? store(body as JsonObject) : refused("conflict");
    },
  };
}

/** How long a call takes to the server and back, in milliseconds, and what else goes wrong with it. */
export interface Fate {
  readonly there: number;
  readonly back: number;
  readonly broken: "no" | "never arrives" | "500 after it took effect";
}

const LOST: Answer = { kind: "unknown", cause: "timeout", message: "lost" };

/** A process with clocks of its own: one that runs a little fast or slow, and one that shows anything. */
export function machine(world: World, speed: number, wall: () => number) {
  let frozenUntil = 0;
  let cutUntil = 0;
  const later = (run: () => void): void => {
    if (world.time() < frozenUntil) world.at(frozenUntil, () => later(run));
    else run();
  };
  const timing: Timing = {
    now: wall,
    elapsed: () => world.time() * speed,
    after: (ms, run) => world.at(world.time() + ms / speed, () => later(run)),
    random: () => 0.5,
  };
  return {
    timing,
    later,
    /** Nothing runs and no answer is read meanwhile; what was sent goes its way. For ever: a crash. */
    freeze(ms: number): void {
      frozenUntil = world.time() + ms;
    },
    /** What is sent meanwhile never arrives. */
    cut(ms: number): void {
      cutUntil = world.time() + ms;
    },
    isCut: (): boolean => world.time() < cutUntil,
  };
}
export type Machine = ReturnType<typeof machine>;

/** Calls whose deadline passes are unknown to the caller, and still arrive. */
export function connectionTo(
  world: World,
  handle: (call: Call) => Answer,
  { later, isCut, fate }: Machine & { fate: () => Fate },
) {
  const call = (call: Call): Promise<Answer> =>
    new Promise((resolve) => {
      const { there, back, broken } = fate();
      world.at(world.time() + (call.within ?? 5000), () => later(() => resolve(LOST)));
      if (broken === "never arrives" || isCut()) return;
      world.at(world.time() + there, () => {
        const answer = handle(call);
        world.at(world.time() + back, () => later(() => resolve(broken === "no" ? answer : LOST)));
      });
    });
  return { call };
}
