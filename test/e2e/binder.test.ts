import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, createGpuNodes, deviceOf, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { placed, profiles, refused } from "./scheduling.ts";

const configuration = {
  profiles: [{ name: "gpu", plugins: [{ name: "GpuMemory", args: { whenUnknown: "reject" } }] }],
  callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["gpu"] }],
};

await e2e("a binder with one entry for all verbs", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    binder = await startBinder(plane, { name: "binder", configuration });
  });
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    let scheduler: Scheduler;
    const name = (pod: string) => `${pod}-${version.replaceAll(".", "-")}`;
    beforeAll(async () => {
      scheduler = await startScheduler(plane, {
        version,
        config: { extenders: [allVerbs(binder, "gpu")], profiles: profiles(["default-scheduler"]) },
      });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await plane.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
      await plane.api.removeAll({ apiVersion: "v1", kind: "Node" });
      await plane.api.removeAll({ apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger" });
    });

    const bound = async (pod: Pod): Promise<Pod> => {
      const created = await plane.api.create(pod);
      await placed(plane, created);
      return plane.api.get<Pod>(created);
    };

    it("gives each pod the fullest device that has room, the lowest number of equals, and says so in annotations", async () => {
      await createGpuNodes(plane, [name("best-fit")], { count: 2, each: 10 });
      const pods = [];
      for (const [index, amount] of [6, 5, 3].entries()) pods.push(await bound(gpuPod(name(`fit-${index}`), amount)));
      expect(pods.map((pod) => deviceOf(pod).index)).toEqual(["0", "1", "0"]);
      const [first] = pods.map(deviceOf);
      expect(first).toMatchObject({ amount: "6", device: "10", assigned: "false" });
      const times = pods.map((pod) => deviceOf(pod).assumeTime);
      for (const [index, time] of times.slice(1).entries()) expect(time).toBeGreaterThan(times[index] ?? 0n);
      expect(pods[0]?.metadata.annotations?.["berth.dev/policy"]).toMatch(/^gpu@[0-9a-f]{12}$/);
    });

    it("emits Scheduled exactly once for each pod, and the device beside it", async () => {
      const pod = await plane.api.get<Pod>(gpuPod(name("fit-0"), 6));
      const events = await eventually("both events are there", async (saw) => {
        const all = await plane.api.events(pod);
        saw(all.map(({ reason, message }) => `${reason}: ${message}`));
        return all.some(({ reason }) => reason === "DeviceAssigned") && all;
      });
      expect(events.filter(({ reason }) => reason === "Scheduled")).toHaveLength(1);
      expect(events.map(({ message }) => message)).toContainEqual(
        `Device 0 of node ${name("best-fit")}: 6 aliyun.com/gpu-mem`,
      );
    });

    it("refuses a pod in one constant sentence while no device has room, and places it once one has", async () => {
      const waiting = await plane.api.create(gpuPod(name("waits"), 6));
      expect(await refused(plane, waiting)).toContain("1 node(s) had no GPU with 6 aliyun.com/gpu-mem free");
      await plane.api.remove(gpuPod(name("fit-1"), 5));
      await placed(plane, waiting);
      expect(deviceOf(await plane.api.get<Pod>(waiting)).index).toBe("1");
    });

    it("places three of five pods that ask for a device with room for three at once", async () => {
      const only = { nodeSelector: { "kubernetes.io/hostname": name("one-card") } };
      await createGpuNodes(plane, [name("one-card")], { count: 1, each: 10 });
      const pods = await Promise.all(
        [0, 1, 2, 3, 4].map((index) => plane.api.create(gpuPod(name(`crowd-${index}`), 3, { spec: only }))),
      );
      const nodesOf = async () => {
        const now = await Promise.all(pods.map((pod) => plane.api.get<Pod>(pod)));
        return now.filter(({ spec }) => spec.nodeName !== undefined);
      };
      await eventually("three are bound", async (saw) => {
        const done = await nodesOf();
        saw(done.length);
        return done.length === 3;
      });
      await stays("no more than three", async () => (await nodesOf()).length === 3, 3_000);
      const times = (await nodesOf()).map((pod) => deviceOf(pod).assumeTime);
      expect(new Set(times).size).toBe(3);
    });
  });
});
