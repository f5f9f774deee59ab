import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import { type Pod, priorityClass } from "../controlplane/objects.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, createGpuNodes, deviceOf, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { startReplicaSet } from "./replicaset.ts";
import { placed, profiles, refused } from "./scheduling.ts";

const configuration = {
  profiles: [{ name: "gpu", plugins: [{ name: "GpuMemory", args: { whenUnknown: "reject" } }] }],
  callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["gpu"] }],
};

await e2e("a binder that is asked to preempt", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    for (const [name, value] of [
      ["low", 10],
      ["middle", 100],
      ["high", 1000],
    ] as const) {
      await plane.api.create(priorityClass(name, value));
    }
    binder = await startBinder(plane, { name: "binder", configuration });
  });
  afterAll(() => plane?.stop());

  describe.each(versions)("by kube-scheduler %s", (version) => {
    const name = (of: string) => `${of}-${version.replaceAll(".", "-")}`;
    const on = (node: string) => ({ spec: { nodeSelector: { "kubernetes.io/hostname": node } } });
    let scheduler: Scheduler;
    beforeAll(async () => {
      const config = { extenders: [allVerbs(binder, "gpu")], profiles: profiles(["default-scheduler"]) };
      scheduler = await startScheduler(plane, { version, config });
      await createGpuNodes(plane, [name("node")], { count: 2, each: 10 });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await plane.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
      await plane.api.removeAll({ apiVersion: "v1", kind: "Node" });
    });

    it("has the cheapest pods of one device evicted, and keeps the device for the pod that they made room for", async () => {
      const place = async (of: string, amount: number, priorityClassName: string): Promise<Pod> => {
        const pod = await plane.api.create(gpuPod(name(of), amount, { priorityClassName }));
        await placed(plane, pod);
        return plane.api.get<Pod>(pod);
      };
      const kept = await place("kept", 6, "middle");
      const victims = [await place("victim-a", 5, "low"), await place("victim-b", 5, "low")];
      const beside = await place("beside", 4, "low");
      expect([kept, ...victims, beside].map((pod) => deviceOf(pod).index)).toEqual(["0", "1", "1", "0"]);
      const greedy = await plane.api.create(
        gpuPod(name("greedy"), 6, { priorityClassName: "low", ...on(name("node")) }),
      );
      await refused(plane, greedy);

      const important = await place("important", 8, "high");

      expect(deviceOf(important).index).toBe("1");
      for (const pod of victims) {
        await eventually("the victim is gone", async () => (await plane.api.find(pod)) === undefined);
      }
      for (const pod of [kept, beside]) expect(await plane.api.find(pod), pod.metadata.name).toBeDefined();
      expect((await plane.api.get<Pod>(greedy)).spec.nodeName).toBeUndefined();
      expect(preemptions(binder, important)).toBeGreaterThan(0);
    });

    it("has nobody evicted in a minute for a pod that no eviction can help, nor for one that only fragments keep out", async () => {
      await createGpuNodes(plane, [name("loop")], { count: 2, each: 10 });
      await createGpuNodes(plane, [name("fragments")], { count: 2, each: 10 });
      let made = 0;
      const replaced = (node: string) =>
        startReplicaSet(plane.api, {
          replicas: 2,
          template: () => gpuPod(name(`${node}-${++made}`), 6, { priorityClassName: "low", ...on(name(node)) }),
        });
      const [full, fragments] = [replaced("loop"), replaced("fragments")];
      try {
        await eventually("the nodes are taken", () => full.placed() === 2 && fragments.placed() === 2);
        const high = { priorityClassName: "high" };
        // 11 is more than any device has; 8 are free in all, 4 on each device.
        const hopeless = await plane.api.create(gpuPod(name("hopeless"), 11, { ...high, ...on(name("loop")) }));
        const squeezed = await plane.api.create(gpuPod(name("squeezed"), 7, { ...high, ...on(name("fragments")) }));
        for (const pod of [hopeless, squeezed]) await refused(plane, pod);
        await stays("nobody is evicted", () => full.lost() + fragments.lost(), 60_000);
        expect([full.lost(), fragments.lost()]).toEqual([0, 0]);
        // Evicting one of the two would help it, but no version up to now asks. One that does fails here.
        expect(preemptions(binder, squeezed)).toBe(0);
      } finally {
        await Promise.all([full.stop(), fragments.stop()]);
      }
    });
  });
});

/** How often the binder was asked to preempt for a pod. */
function preemptions({ logs }: RunningBinder, pod: Pod): number {
  const lines = logs().split("\n");
  return lines.filter((line) => line.includes('"verb":"preempt"') && line.includes(`/${pod.metadata.name}"`)).length;
}
