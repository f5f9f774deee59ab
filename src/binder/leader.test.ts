import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EventDraft } from "../cluster/event-object.ts";
import { gpuClaim } from "../placement/gpu-fixture.ts";
import { watch } from "./binder-fixture.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { followUnplaced } from "./unplaced.ts";
import { createWaker } from "./waking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const log = () => undefined;

describe("waking pods that wait", () => {
  function waking(leads = true) {
    const watched = watch();
    watched.node("gpu-1", [1, 10]);
    const touched: string[] = [];
    const touch = async (node: string) => void touched.push(node);
    const waker = createWaker({ state: watched.state, isLeader: () => leads, touch: touch as never, log });
    return { watched, touched, waker };
  }

  it("touches a node that a waiting pod could be placed on now", async () => {
    const { watched, touched, waker } = waking();
    watched.pod({ uid: "a", gpu: 6 });
    waker.freed(["gpu-1"]);
    await vi.advanceTimersByTimeAsync(0);
    expect(touched).toEqual(["gpu-1"]);
  });

  it("touches nothing when no pod waits, when none would fit, or when another binder leads", async () => {
    for (const { gpu, leads } of [{ leads: true }, { gpu: 11, leads: true }, { gpu: 6, leads: false }]) {
      const { watched, touched, waker } = waking(leads);
      if (gpu !== undefined) watched.pod({ uid: "a", gpu });
      waker.freed(["gpu-1"]);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(touched).toEqual([]);
    }
  });

  it("touches a node that has come after it was asked about in vain, whoever leads", async () => {
    const { watched, touched, waker } = waking(false);
    watched.state.nodes.onLate(waker.wake);
    const asked = watched.state.nodes.wait("gpu-2", 200);
    await vi.advanceTimersByTimeAsync(200);
    expect(await asked).toBeUndefined();
    watched.node("gpu-3", [1, 10]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(touched).toEqual([]);
    watched.node("gpu-2", [1, 10]);
    watched.node("gpu-2", [1, 10]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(touched).toEqual(["gpu-2"]);
  });

  it("touches the node of a pod that was to be evicted before the binder knew it, whoever leads", async () => {
    const { watched, touched, waker } = waking(false);
    watched.state.pods.onLate(({ nodeName }) => waker.wake(nodeName));
    let over = false;
    void watched.state.pods.placed(["late", "gone"], 500).then(() => {
      over = true;
    });
    watched.pod({ uid: "late" });
    await vi.advanceTimersByTimeAsync(500);
    expect(over).toBe(true);
    expect(touched).toEqual([]);
    watched.pod({ uid: "other", node: "gpu-1" });
    watched.pod({ uid: "late", node: "gpu-1" });
    watched.pod({ uid: "late", node: "gpu-1" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(touched).toEqual(["gpu-1"]);
  });

  it("touches at most once a second, and does not forget what came in between", async () => {
    const { watched, touched, waker } = waking();
    watched.pod({ uid: "a", gpu: 6 });
    for (let round = 0; round < 5; round++) {
      waker.freed(["gpu-1"]);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(touched).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(touched).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(touched).toHaveLength(2);
  });
});

describe("the leader's loop over the ledgers", () => {
  function loop(leads = true) {
    const watched = watch();
    const cleaned: string[][] = [];
    const opened: string[] = [];
    const counted: [string, number][] = [];
    const tick = async (views: readonly { node: { name: string } }[]) => {
      cleaned.push(views.map(({ node }) => node.name));
      return { ended: 1, revoked: 2, freed: ["gpu-1"], problems: [] };
    };
    const freed = vi.fn();
    const loop = startHousekeeping(
      {
        state: watched.state,
        cleaner: { tick },
        openLedger: async ({ name }) => void opened.push(name),
        isLeader: () => leads,
        afterRound: () => undefined,
        freed,
        metrics: { claimsTaken: (how, count) => void counted.push([how, count]) },
        log,
        every: 5_000,
      },
      () => Date.now(),
    );
    return { watched, cleaned, opened, counted, freed, loop };
  }

  it("looks at every ledger in rounds, counts what was taken away and tells who has room now", async () => {
    const { watched, cleaned, counted, freed } = loop();
    watched.node("gpu-1", [1, 10]);
    watched.ledger("gpu-1", []);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(cleaned).toEqual([["gpu-1"]]);
    expect(counted).toEqual([
      ["ended", 1],
      ["revoked", 2],
    ]);
    expect(freed).toHaveBeenCalledWith(["gpu-1"]);
  });

  it("looks at a node at once when a pod of it ends, and at the node that promised a device to a pod never bound", async () => {
    const { watched, cleaned } = loop();
    for (const name of ["gpu-1", "gpu-2", "gpu-3"]) {
      watched.node(name, [1, 10]);
      watched.ledger(name, name === "gpu-2" ? [gpuClaim("unbound", 0, 3)] : []);
    }
    const bound = watched.pod({ uid: "bound", gpu: 3, node: "gpu-1", device: 0 });
    const unbound = watched.pod({ uid: "unbound", gpu: 3 });
    watched.podGone(bound);
    watched.podGone(unbound);
    await vi.advanceTimersByTimeAsync(100);
    expect(cleaned).toEqual([["gpu-1", "gpu-2"]]);
  });

  it("makes ledgers for nodes that have devices and none", async () => {
    const { watched, opened } = loop();
    watched.node("gpu-1", [1, 10]);
    watched.node("plain");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(opened).toEqual(["gpu-1"]);
  });

  it("does nothing while another binder leads, and is not taken for stuck", async () => {
    const { watched, cleaned, opened, loop: running } = loop(false);
    watched.node("gpu-1", [1, 10]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([cleaned, opened]).toEqual([[], []]);
    expect(running.idleFor(Date.now())).toBeLessThan(6_000);
    await running.stop();
  });
});

describe("a pod that reached a node without its device", () => {
  it("is warned of once, by the leader, whatever happens to it later", () => {
    const watched = watch();
    const events: EventDraft[] = [];
    let leads = false;
    const unplaced = followUnplaced(watched.state.pods, {
      isLeader: () => leads,
      record: (event) => void events.push(event),
    });
    watched.pod({ uid: "stray", gpu: 6, node: "gpu-1" });
    watched.pod({ uid: "placed", gpu: 6, node: "gpu-1", device: 0 });
    watched.pod({ uid: "plain", node: "gpu-1" });
    expect(events).toEqual([]);
    leads = true;
    unplaced.warn();
    watched.pod({ uid: "stray", gpu: 6, node: "gpu-1", labels: { changed: "yes" } });
    unplaced.warn();
    expect(events).toMatchObject([{ type: "Warning", reason: "BoundWithoutDevice", regarding: { uid: "stray" } }]);
  });
});
