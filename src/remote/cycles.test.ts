import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createCycles } from "./cycles.ts";

function cycles() {
  let now = 1_000;
  const made = createCycles<{ readonly name: string }>(
    ({ name }) => name,
    () => now,
  );
  const later = (ms: number): void => {
    now += ms;
  };
  return { ...made, later };
}

afterEach(() => void vi.useRealTimers());

/** Frees what nobody holds. */
async function collect(): Promise<void> {
  setFlagsFromString("--expose-gc");
  // What a WeakRef was asked for stays until the end of the turn.
  await new Promise(setImmediate);
  runInNewContext("gc")();
}

describe("the version by which a pod is placed", () => {
  it("is the one that its cycle began with, until the next cycle begins with another", () => {
    const { begin, running } = cycles();
    const [first, second] = [{ name: "p@1" }, { name: "p@2" }];
    begin("pod", first);
    expect(running("pod")).toBe(first);
    begin("pod", second);
    expect([running("pod"), running("other")]).toEqual([second, undefined]);
  });

  it("is forgotten when the cycle must be over, and its name when the bind must be", () => {
    const { begin, running, judgedBy, later } = cycles();
    begin("pod", { name: "p@1" });
    later(29_000);
    expect(running("pod")?.name).toBe("p@1");
    later(2_000);
    expect([running("pod"), judgedBy("pod")]).toEqual([undefined, "p@1"]);
    later(600_000);
    expect(judgedBy("pod")).toBeUndefined();
  });

  it("is named for the bind by an entry without a filter verb too, and binds no later verb", () => {
    const { judged, running, judgedBy } = cycles();
    judged("pod", { name: "p@1" });
    expect([running("pod"), judgedBy("pod")]).toEqual([undefined, "p@1"]);
  });

  it("is kept for a bounded number of pods, the oldest go first", () => {
    const { begin, running } = cycles();
    for (let pod = 0; pod <= 20_000; pod++) begin(`${pod}`, { name: "p@1" });
    expect([running("0"), running("1")?.name]).toEqual([undefined, "p@1"]);
  });

  it("is freed once the cycle must be over, though nobody asks about the pod again", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const { begin, judgedBy, later } = cycles();
    const held = (() => {
      const version = { name: "p@1" };
      begin("pod", version);
      return new WeakRef(version);
    })();
    await collect();
    expect(held.deref()?.name).toBe("p@1");
    later(31_000);
    vi.advanceTimersByTime(31_000);
    await collect();
    expect([held.deref(), judgedBy("pod")]).toEqual([undefined, "p@1"]);
  });
});
