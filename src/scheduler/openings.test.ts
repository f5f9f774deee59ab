import { describe, expect, it } from "vitest";
import type { Objects } from "../placement/followed.ts";
import type { JsonObject } from "../protocol/json.ts";
import { followOpenings } from "./openings.ts";
import { stillTiming } from "./scheduler-fixture.ts";

function setUp() {
  const { elapsed, after, pass } = stillTiming();
  type Handler = Parameters<Objects["subscribe"]>[0];
  const handlers = new Set<Handler>();
  const subscribe = (handler: Handler) => {
    handlers.add(handler);
    return () => handlers.delete(handler);
  };
  let opened = 0;
  const ledgers: Objects = { get: () => undefined, values: () => [], subscribe };
  const openings = followOpenings(ledgers, { now: elapsed, after }, () => {
    opened += 1;
  });
  const ledger = (name: string, until?: number): JsonObject => ({
    metadata: { name },
    spec: until === undefined ? {} : { closedUntil: new Date(until).toISOString() },
  });
  const say = (tell: (handler: Handler) => void): void => {
    for (const handler of handlers) tell(handler);
  };
  return {
    pass,
    openings,
    opened: () => opened,
    add: (name: string, until?: number) => say((handler) => handler.add?.(ledger(name, until))),
    update: (name: string, until?: number) => say((handler) => handler.update?.(ledger(name, until), {})),
    remove: (name: string) => say((handler) => handler.delete?.(ledger(name))),
  };
}

describe("a ledger that was made anew", () => {
  it("is told of once when it opens, however often it is written meanwhile", () => {
    const { pass, opened, add, update } = setUp();
    add("one", 75_000);
    for (let times = 0; times < 3; times++) update("one", 75_000);
    pass(75_000);
    expect(opened()).toBe(0);
    pass(100);
    expect(opened()).toBe(1);
    pass(600_000);
    expect(opened()).toBe(1);
  });

  it("is told of at its own time beside others, and at the later one when it is made anew again", () => {
    const { pass, opened, add, update } = setUp();
    add("one", 30_000);
    add("two", 10_000);
    pass(10_100);
    expect(opened()).toBe(1);
    update("one", 60_000);
    pass(30_000);
    expect(opened()).toBe(1);
    pass(30_000);
    expect(opened()).toBe(2);
  });

  it("is not told of when it was open from the start, has gone or was opened, or nobody listens any more", () => {
    const { pass, openings, opened, add, update, remove } = setUp();
    add("open");
    add("over", -1_000);
    add("gone", 1_000);
    remove("gone");
    add("written", 1_000);
    update("written");
    pass(2_000);
    expect(opened()).toBe(0);
    add("late", 5_000);
    openings.stop();
    pass(10_000);
    expect(opened()).toBe(0);
  });

  it("is looked at after ten minutes when its time is an error", () => {
    const { pass, opened, add } = setUp();
    add("one", Date.parse("2100-01-01T00:00:00Z"));
    pass(600_000);
    expect(opened()).toBe(1);
  });
});
