import { describe, expect, it } from "vitest";
import type { EventDraft } from "../cluster/event-object.ts";
import type { PlacedPod } from "../placement/model.ts";
import { createBell } from "./bell.ts";
import type { Bound } from "./bind.ts";
import type { Choice } from "./choose.ts";
import { createCluster, type KnownNode } from "./cluster.ts";
import { createLateBindings } from "./late.ts";
import { startLoop } from "./loop.ts";
import { createQueue } from "./queue.ts";
import { stillTiming, testNode, testPod } from "./scheduler-fixture.ts";

const BOUND: Bound = { kind: "bound", ours: true };

function setUp(bind: (pod: PlacedPod, leaving: AbortSignal) => Promise<Bound> | Bound, leaveAfter = 1) {
  const timing = stillTiming();
  const bell = createBell();
  const queue = createQueue(timing, bell.ring);
  const cluster = createCluster(() => undefined);
  cluster.putNode(testNode("one", { cpu: "2" }));
  const events: EventDraft[] = [];
  const conditions: string[] = [];
  const logs: [string, unknown][] = [];
  const state = { leading: true };
  const choose = async (pod: PlacedPod): Promise<Choice> => {
    const node = cluster.get("one") as KnownNode;
    if (pod.name === "endless") await new Promise(() => undefined);
    if (pod.name === "broken") throw new Error("a plugin is broken");
    if (node.usage.pods >= 2) return { kind: "unfit", message: "full", refusals: [] };
    return { kind: "node", node, score: 0, fitting: 1, policy: "test@1" };
  };
  const late = createLateBindings("me", (event) => events.push(event));
  const loop = startLoop({
    ...{ queue, cluster, bell, choose, elapsed: timing.elapsed },
    bind: async (pod, _, leaving) => bind(pod, leaving),
    mayPlace: () => state.leading,
    record: (event) => events.push(event),
    tellCondition: async (pod, reason) => void conditions.push(`${pod.name}: ${reason}`),
    metrics: { attempt: () => undefined, bound: () => undefined },
    ...{ late, leaveAfter, log: (_, message, fields) => void logs.push([message, fields]) },
  });
  const told = (pod: string) => events.filter(({ regarding }) => regarding.name === pod).map(({ reason }) => reason);
  /** Lets everything happen that waits for nothing. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { timing, bell, queue, cluster, events, conditions, logs, state, loop, late, told, settle };
}

describe("the loop", () => {
  it("goes on while binds are under way, and counts their pods", async () => {
    const answers: ((bound: Bound) => void)[] = [];
    const { queue, told, settle, loop } = setUp(() => new Promise((resolve) => answers.push(resolve)));
    for (const name of ["a", "b", "c"]) queue.put(testPod(name));
    await settle();
    expect(answers).toHaveLength(2);
    expect(told("c")).toEqual(["FailedScheduling"]);
    for (const answer of answers) answer(BOUND);
    await settle();
    expect([told("a"), told("b")]).toEqual([["Scheduled"], ["Scheduled"]]);
    await loop.stop();
  });

  it("gives the room of a bind that was refused to the pods that wait for it, and tries the pod again", async () => {
    let refusals = 1;
    const { queue, timing, cluster, told, conditions, settle, loop } = setUp((pod) =>
      pod.name === "a" && refusals-- > 0 ? { kind: "failed", message: "not now", over: false } : BOUND,
    );
    for (const name of ["a", "b", "c"]) queue.put(testPod(name));
    await settle();
    timing.pass(1_000);
    await settle();
    expect([told("a")[0], told("b"), told("c").at(-1)]).toEqual(["FailedScheduling", ["Scheduled"], "Scheduled"]);
    expect(conditions).toContain("a: SchedulerError");
    cluster.dropPod("b");
    queue.wake();
    timing.pass(10_000);
    await settle();
    expect(told("a").at(-1)).toBe("Scheduled");
    await loop.stop();
  });

  it("tells nothing of a pod that somebody else has bound, or that is gone", async () => {
    const { queue, told, settle, loop } = setUp(({ name }) =>
      name === "theirs" ? { kind: "bound", ours: false } : { kind: "failed", message: "gone", over: true },
    );
    for (const name of ["theirs", "gone"]) queue.put(testPod(name));
    await settle();
    expect([told("theirs"), told("gone")]).toEqual([[], []]);
    expect(queue.sizes()).toEqual({ active: 0, backoff: 0, unfit: 0, taken: 0 });
    await loop.stop();
  });

  it("does not try a pod again that it has bound when news from before its Binding comes late", async () => {
    let binds = 0;
    const { queue, cluster, told, settle, loop } = setUp(() => {
      binds += 1;
      return BOUND;
    });
    queue.put(testPod("a"));
    await settle();
    cluster.putPod(testPod("a"));
    queue.put(testPod("a"));
    await settle();
    expect([binds, told("a"), cluster.podOn("a")?.node]).toEqual([1, ["Scheduled"], "one"]);
    expect(queue.sizes()).toEqual({ active: 0, backoff: 0, unfit: 0, taken: 0 });
    await loop.stop();
  });

  it("tells of no failure where no answer came and the watch has shown the pod on its node by then", async () => {
    const { queue, cluster, told, settle, loop } = setUp(({ name }) => {
      cluster.putPod(testPod(name, { node: "one", annotations: { "berth.dev/bound-by": "me" } }));
      return { kind: "failed", message: "no answer", over: false };
    });
    queue.put(testPod("a"));
    await settle();
    expect(told("a")).toEqual(["Scheduled"]);
    expect(cluster.podOn("a")?.node).toBe("one");
    expect(queue.sizes()).toEqual({ active: 0, backoff: 0, unfit: 0, taken: 0 });
    await loop.stop();
  });

  it("tells once of a pod whose Binding arrives after it was given up, elsewhere though it was tried again", async () => {
    const answers: Bound[] = [
      { kind: "failed", message: "no answer", over: false },
      { kind: "failed", message: "bound elsewhere", over: true },
    ];
    const { queue, timing, late, told, settle, loop } = setUp(() => answers.shift() ?? BOUND);
    queue.put(testPod("a"));
    await settle();
    timing.pass(1_000);
    await settle();
    expect(told("a")).toEqual(["FailedScheduling"]);
    const shown = testPod("a", { node: "two", annotations: { "berth.dev/bound-by": "me" } });
    for (let times = 0; times < 2; times++) late.shown(shown);
    expect(told("a")).toEqual(["FailedScheduling", "Scheduled"]);
    await loop.stop();
  });

  it("tells of no failure once another may lead, and tries the pod again when it leads itself", async () => {
    const answers: Bound[] = [{ kind: "failed", message: "no answer", over: false }];
    const { queue, timing, state, bell, told, conditions, settle, loop } = setUp(() => {
      state.leading = answers.length === 0;
      return answers.shift() ?? BOUND;
    });
    queue.put(testPod("a"));
    await settle();
    expect([told("a"), conditions]).toEqual([[], []]);
    state.leading = true;
    timing.pass(1_000);
    bell.ring();
    await settle();
    expect(told("a")).toEqual(["Scheduled"]);
    await loop.stop();
  });

  it("survives a plugin that throws, and a bind that does", async () => {
    const { queue, told, events, settle, loop } = setUp(({ name }) => {
      if (name === "thrown") throw new Error("no connection");
      return BOUND;
    });
    for (const name of ["broken", "thrown", "fine"]) queue.put(testPod(name));
    await settle();
    expect(told("fine")).toEqual(["Scheduled"]);
    expect(events.map(({ note }) => note)).toEqual(
      expect.arrayContaining(["a plugin is broken", "binding rejected: no connection"]),
    );
    await loop.stop();
  });

  it("ends although a Binding is never answered, says which, and tells nothing of its pod", async () => {
    const left: Promise<Bound>[] = [];
    const { queue, told, conditions, logs, settle, loop } = setUp(({ name }, leaving) => {
      if (name === "fine") return BOUND;
      const given: Promise<Bound> = new Promise((resolve) => {
        leaving.addEventListener("abort", () => resolve({ kind: "failed", message: "no answer", over: false }));
      });
      left.push(given);
      return given;
    });
    for (const name of ["open", "fine"]) queue.put(testPod(name));
    await settle();
    await loop.stop();
    await Promise.all(left);
    await settle();
    expect([told("fine"), told("open"), conditions]).toEqual([["Scheduled"], [], []]);
    expect(logs).toContainEqual([expect.stringMatching(/^ended before/), { count: 1, pods: ["default/open"] }]);
  });

  it("says that it is stuck when a decision does not end, and not while it has nothing to do", async () => {
    const { queue, timing, settle, loop } = setUp(() => BOUND);
    timing.pass(600_000);
    expect(loop.problems()).toEqual([]);
    queue.put(testPod("endless"));
    await settle();
    timing.pass(120_000);
    expect(loop.problems()).toEqual([]);
    timing.pass(1_000);
    expect(loop.problems()).toEqual(["the decision about a pod has not ended for 121 s"]);
    await loop.stop();
  });

  it("says that it is stuck when pods wait for their turn, which nobody takes; not while binds are awaited", async () => {
    const { queue, state, timing, settle, loop } = setUp(() => new Promise(() => undefined));
    queue.put(testPod("a"));
    state.leading = false;
    await settle();
    queue.put(testPod("b"));
    await settle();
    timing.pass(130_000);
    expect(loop.problems()).toEqual([]);
    // Nobody rings the bell.
    state.leading = true;
    expect(loop.problems()).toEqual(["pods wait for their turn and none was taken for 130 s"]);
    await loop.stop();
  });

  it("begins nothing while it does not lead, and waits a while for what is under way when it is stopped", async () => {
    let answer = (_: Bound): void => undefined;
    const { queue, state, bell, told, settle, loop } = setUp(
      () => new Promise((resolve) => (answer = resolve)),
      60_000,
    );
    state.leading = false;
    queue.put(testPod("a"));
    await settle();
    expect(queue.sizes()).toMatchObject({ active: 1 });
    state.leading = true;
    bell.ring();
    await settle();
    let stopped = false;
    const stopping = loop.stop().then(() => {
      stopped = true;
    });
    queue.put(testPod("late"));
    await settle();
    expect(stopped).toBe(false);
    answer(BOUND);
    await stopping;
    expect(told("a")).toEqual(["Scheduled"]);
    expect(queue.sizes()).toMatchObject({ active: 1 });
  });
});
