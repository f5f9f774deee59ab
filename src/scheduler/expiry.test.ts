import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openedRig } from "../placement/protocol-fixture.ts";
import { createCluster } from "./cluster.ts";
import { startExpiry } from "./expiry.ts";
import { createQueue } from "./queue.ts";
import { stillTiming, testNode } from "./scheduler-fixture.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** A pod that counts on node `one` by assumption, as it does from the decision on. */
async function setUp() {
  const { api, rig } = await openedRig();
  const cluster = createCluster(() => undefined);
  const queue = createQueue(stillTiming(), () => undefined);
  cluster.putNode(testNode("one"));
  api.addPod({ uid: "a", spec: { schedulerName: "berth" } });
  const pod = api.pod("a");
  if (pod === undefined) throw new Error("no pod");
  queue.put(pod);
  queue.take();
  cluster.assume(pod, "one");
  const expiry = startExpiry({ cluster, queue, protocol: rig.binder }, "berth");
  /** Two rounds: a pod is looked at when it was there in the one before. */
  const pass = () => vi.advanceTimersByTimeAsync(120_000);
  return { api, cluster, queue, expiry, pass };
}

describe("a pod that no watch shows on the node it was given", () => {
  it("is tried again when an extender said that it was bound and it is not", async () => {
    const { cluster, queue, expiry, pass } = await setUp();
    queue.drop("a");
    await pass();
    expect(cluster.podOn("a")).toBeUndefined();
    expect(queue.take()?.pod.uid).toBe("a");
    expiry.stop();
  });

  it("is left alone while its bind is under way", async () => {
    const { api, cluster, queue, expiry, pass } = await setUp();
    await pass();
    expect(cluster.podOn("a")?.node).toBe("one");
    expect(queue.sizes()).toMatchObject({ taken: 1, active: 0 });
    expect(api.requests).toEqual([]);
    expiry.stop();
  });

  it("counts where the API server says that it is", async () => {
    const { api, cluster, queue, expiry, pass } = await setUp();
    queue.drop("a");
    api.changePod("a", (pod) => ({ ...pod, spec: { ...Object(pod["spec"]), nodeName: "two" } }));
    await pass();
    expect(cluster.podOn("a")).toMatchObject({ node: "two", assumed: false });
    expect(queue.take()).toBeUndefined();
    expiry.stop();
  });

  it("is forgotten when it is gone", async () => {
    const { api, cluster, queue, expiry, pass } = await setUp();
    queue.drop("a");
    api.changePod("a", () => undefined);
    await pass();
    expect([cluster.podOn("a"), queue.take()]).toEqual([undefined, undefined]);
    expiry.stop();
  });
});
