import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { devices } from "../../src/policy/views/devices.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type Node, nodeRef, type Pod } from "../controlplane/objects.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, createGpuNodes, deviceOf, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { type RunningFunction, startWorker } from "./function.ts";
import { e2e } from "./gate.ts";
import { extenderEntry, placed, profiles } from "./scheduling.ts";

const SECRET = "e2e-summaries-path-secret";

/** Binds where it can, and prefers nodes that are fullest. */
const inCluster = {
  profiles: [{ name: "gpu", plugins: [{ name: "GpuMemory", args: { whenUnknown: "reject", score: "binpack" } }] }],
  callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["gpu"] }],
};

/** Prefers nodes that are emptiest, by nothing but what the binder has published. */
const function_ = {
  configuration: {
    profiles: [{ name: "spread", plugins: [{ name: "GpuMemory", args: { score: "spread" } }] }],
    callers: [{ name: "cluster-a", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["spread"] }],
  },
  secrets: { CLUSTER_A_PATH: SECRET },
};

await e2e("a function that prioritizes beside a binder that binds", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  let worker: RunningFunction;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    [binder, worker] = await Promise.all([
      startBinder(plane, { name: "binder", configuration: inCluster }),
      startWorker(plane, function_),
    ]);
  });
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    let scheduler: Scheduler;
    const name = (of: string) => `${of}-${version.replaceAll(".", "-")}`;
    beforeAll(async () => {
      const scores = extenderEntry(worker, `${SECRET}/spread`, { prioritizeVerb: "prioritize", weight: 100 });
      const config = { extenders: [allVerbs(binder, "gpu"), scores], profiles: profiles(["default-scheduler"]) };
      scheduler = await startScheduler(plane, { version, config });
      await createGpuNodes(plane, [name("one"), name("other")], { count: 1, each: 10 });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await plane.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
      await plane.api.removeAll({ apiVersion: "v1", kind: "Node" });
      await plane.api.removeAll({ apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger" });
    });

    /** Units held on a node as the function can see them. */
    const published = async (node: string): Promise<bigint | undefined> => {
      const read = devices.read?.(await plane.api.get<Node>(nodeRef(node)), 0);
      return read && "value" in read ? read.value.devices["aliyun.com/gpu-mem"]?.[0]?.used : undefined;
    };

    /** Waits until the function can see who holds what. */
    const summaries = (held: ReadonlyMap<string, bigint>) =>
      eventually("the summaries are up to date", async (saw) => {
        const now = new Map<string, bigint | undefined>();
        for (const node of held.keys()) now.set(node, await published(node));
        saw(now);
        return [...held].every(([node, amount]) => now.get(node) === amount);
      });

    it("sends each pod to the node that the published summaries show as emptiest, and the binder gives it its device", async () => {
      const held = new Map([name("one"), name("other")].map((node) => [node, 0n]));
      const pods: Pod[] = [];
      for (const [index, amount] of [4, 3, 2, 1].entries()) {
        await summaries(held);
        const pod = await plane.api.create(gpuPod(name(`pod-${index}`), amount));
        const node = await placed(plane, pod);
        const before = held.get(node) ?? -1n;
        expect([...held.values()].every((other) => before <= other)).toBe(true);
        held.set(node, before + BigInt(amount));
        pods.push(await plane.api.get<Pod>(pod));
      }
      // 4 | 3, then 2 beside the 3, then 1 beside the 4: spread, where the binder's own profile would pack.
      expect([...held.values()]).toEqual([5n, 5n]);
      for (const pod of pods) expect(deviceOf(pod)).toMatchObject({ index: "0", device: "10", assigned: "false" });
      expect(worker.decisions().filter(({ verb }) => verb !== "prioritize")).toEqual([]);
    });

    it("gives the pods of a node strictly increasing assume times in the order of their binds", async () => {
      for (const node of [name("one"), name("other")]) {
        const pods = await plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" });
        const here = pods.filter(({ spec }) => spec.nodeName === node);
        const byName = here.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
        const times = byName.map((pod) => deviceOf(pod).assumeTime);
        expect(times).toHaveLength(2);
        expect(times[0]).toBeLessThan(times[1] ?? 0n);
      }
    });
  });
});
