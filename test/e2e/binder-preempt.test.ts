import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type Pod, priorityClass } from "../controlplane/objects.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, createGpuNodes, deviceOf, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
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
      const greedy = await plane.api.create(gpuPod(name("greedy"), 6, { priorityClassName: "low" }));
      await refused(plane, greedy);

      const important = await place("important", 8, "high");

      expect(deviceOf(important).index).toBe("1");
      for (const pod of victims) {
        await eventually("the victim is gone", async () => (await plane.api.find(pod)) === undefined);
      }
      for (const pod of [kept, beside]) expect(await plane.api.find(pod)).toBeDefined();
      expect((await plane.api.get<Pod>(greedy)).spec.nodeName).toBeUndefined();
      expect(binder.logs()).toContain('"verb":"preempt"');
    });
  });
});
