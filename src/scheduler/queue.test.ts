import { describe, expect, it } from "vitest";
import { backoffAfter } from "./backoff.ts";
import { createQueue } from "./queue.ts";
import { stillTiming, testPod } from "./scheduler-fixture.ts";

function setUp() {
  const timing = stillTiming();
  let rung = 0;
  const queue = createQueue(timing, () => {
    rung += 1;
  });
  return { timing, queue, rung: () => rung, next: () => queue.take()?.pod.name };
}

describe("the queue", () => {
  it("gives pods by priority, then by age, then in the order in which they came", () => {
    const { queue, next } = setUp();
    queue.put(testPod("young", { created: "2026-01-02T00:00:00Z" }));
    queue.put(testPod("old"));
    queue.put(testPod("as-old"));
    queue.put(testPod("important", { priority: 10, created: "2026-01-03T00:00:00Z" }));
    expect([next(), next(), next(), next(), next()]).toEqual(["important", "old", "as-old", "young", undefined]);
  });

  it("keeps a pod that found no node until something changes, and then until its backoff is over", () => {
    const { queue, timing, next } = setUp();
    queue.put(testPod("a"));
    next();
    queue.failed("a", "unfit");
    timing.pass(60_000);
    expect(next()).toBeUndefined();
    queue.wake();
    expect(next()).toBe("a");
    queue.failed("a", "unfit");
    queue.wake();
    expect(next()).toBeUndefined();
    timing.pass(1_999);
    expect(next()).toBeUndefined();
    timing.pass(1);
    expect(next()).toBe("a");
  });

  it("tries a pod again without any change when it has failed by an error", () => {
    const { queue, timing, next } = setUp();
    queue.put(testPod("a"));
    next();
    queue.failed("a", "error");
    timing.pass(1_000);
    expect(next()).toBe("a");
  });

  it("does not lose a change that happens while a pod is being tried", () => {
    const { queue, timing, next } = setUp();
    queue.put(testPod("a"));
    next();
    queue.wake();
    queue.failed("a", "unfit");
    timing.pass(1_000);
    expect(next()).toBe("a");
  });

  it("doubles the backoff of a pod from one second up to ten", () => {
    expect([1, 2, 3, 4, 5, 50].map(backoffAfter)).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it("lets no pod wait because another one fails", () => {
    const { queue, timing, next } = setUp();
    queue.put(testPod("bad", { priority: 10 }));
    for (let times = 0; times < 5; times++) {
      expect(next()).toBe("bad");
      queue.failed("bad", "error");
      queue.put(testPod(`good-${times}`));
      expect(next()).toBe(`good-${times}`);
      timing.pass(10_000);
    }
  });

  it("tries a pod that waits when it asks for something else, and not when only its status has changed", () => {
    const { queue, timing, next } = setUp();
    queue.put(testPod("a"));
    next();
    queue.failed("a", "unfit");
    timing.pass(1_000);
    queue.put({ ...testPod("a"), resourceVersion: "2" });
    expect(next()).toBeUndefined();
    queue.put(testPod("a", { labels: { app: "web" } }));
    expect(next()).toBe("a");
  });

  it("forgets a pod that was dropped, wherever it was", () => {
    const { queue, timing, next } = setUp();
    for (const name of ["active", "taken", "backoff"]) queue.put(testPod(name));
    expect([next(), next(), next()]).toEqual(["active", "taken", "backoff"]);
    queue.failed("backoff", "error");
    queue.failed("active", "error");
    timing.pass(1_000);
    for (const name of ["active", "taken", "backoff"]) queue.drop(name);
    queue.failed("taken", "error");
    timing.pass(60_000);
    expect(next()).toBeUndefined();
    expect(queue.sizes()).toEqual({ active: 0, backoff: 0, unfit: 0, taken: 0 });
  });

  it("gives a pod once, however often it is seen", () => {
    const { queue, next } = setUp();
    for (let times = 0; times < 3; times++) queue.put(testPod("a"));
    expect([next(), next()]).toEqual(["a", undefined]);
    queue.put(testPod("a"));
    expect(next()).toBeUndefined();
  });

  it("says when there is something to take", () => {
    const { queue, timing, rung, next } = setUp();
    queue.put(testPod("a"));
    expect(rung()).toBe(1);
    next();
    queue.failed("a", "error");
    expect(rung()).toBe(1);
    timing.pass(1_000);
    expect(rung()).toBe(2);
  });
});
