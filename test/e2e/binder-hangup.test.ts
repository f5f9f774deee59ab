import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { askToBind } from "./bind-calls.ts";
import {
  ACCOUNT,
  allVerbs,
  applyInfra,
  createGpuNodes,
  deviceOf,
  gpuPod,
  NAMESPACE,
  type RunningBinder,
  startBinder,
} from "./binder.ts";
import { e2e } from "./gate.ts";
import { type Interposer, interpose, isBinding } from "./interposer.ts";
import { placed, profiles } from "./scheduling.ts";

await e2e("a bind that takes long", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  let between: Interposer;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    between = await interpose(plane, "between", await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT));
    const env = { BERTH_KUBECONFIG: between.kubeconfig };
    binder = await startBinder(plane, { name: "binder", open: true, env });
  });
  afterAll(() => plane?.stop());

  /** Holds every Binding of a pod until it is released, and counts them. */
  const hold = (pod: string) => {
    const gate = Promise.withResolvers<"deliver">();
    let held = 0;
    between.before = (passing) => {
      if (!isBinding(passing, pod)) return undefined;
      held++;
      return gate.promise;
    };
    return { held: () => held, release: () => gate.resolve("deliver") };
  };

  describe.each(versions)("given up by kube-scheduler %s", (version) => {
    let scheduler: Scheduler;
    const name = (of: string) => `${of}-${version.replaceAll(".", "-")}`;
    beforeAll(async () => {
      const { managedResources: _, ...everyPod } = allVerbs(binder, "gpushare-scheduler");
      const entry = { ...everyPod, httpTimeout: "1s" };
      const config = { extenders: [entry], profiles: profiles(["default-scheduler"]) };
      scheduler = await startScheduler(plane, { version, config });
      await createGpuNodes(plane, [name("node")], { count: 1, each: 10 });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await plane.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
      await plane.api.removeAll({ apiVersion: "v1", kind: "Node" });
    });

    it.each([
      ["a pod with a device", 1],
      ["a pod with a device", 2],
      ["a pod without one", 1],
      ["a pod without one", 2],
    ] as const)("has %s bound once and its Scheduled emitted once after %i attempts", async (kind, attempts) => {
      const device = kind === "a pod with a device";
      const called = name(`${device ? "device" : "plain"}-${attempts}`);
      const pod = device ? gpuPod(called, 2) : buildPod({ name: called, cpu: "100m" });
      const bindings = hold(pod.metadata.name);
      const created = await plane.api.create<Pod>(pod);
      await eventually("kube-scheduler has given up", async (saw) => {
        const failures = (await plane.api.events(created)).filter(({ reason }) => reason === "FailedScheduling");
        saw({ held: bindings.held(), failures: failures.map(({ message }) => message) });
        return failures.length > 0 && bindings.held() >= attempts;
      });
      bindings.release();
      await placed(plane, created);
      if (device) expect(deviceOf(await plane.api.get<Pod>(created))).toMatchObject({ index: "0", amount: "2" });
      const scheduled = async () => {
        const events = await plane.api.events(created);
        return events.filter(({ reason }) => reason === "Scheduled").map(({ message }) => message);
      };
      await eventually("Scheduled is emitted", async () => (await scheduled()).length > 0);
      await stays("one Scheduled", async () => (await scheduled()).length, 2_000);
      expect(await scheduled()).toEqual([`Successfully assigned default/${pod.metadata.name} to ${name("node")}`]);
    });
  });

  it("answers the bind that is under way when it is told to end, takes no other, and ends with exit code 0", async () => {
    await createGpuNodes(plane, ["last"], { count: 1, each: 10 });
    const pod = await plane.api.create<Pod>(gpuPod("under-way", 2, { schedulerName: "nobody" }));
    const binding = hold(pod.metadata.name);
    const answer = askToBind(binder.url, pod, "last");
    await eventually("the Binding is on its way", () => binding.held() === 1);

    binder.process.signal("SIGTERM");
    const refused = () =>
      binder.get("/healthz").then(
        () => false,
        () => true,
      );
    await eventually("no connection is taken any more", refused, { every: 20 });
    binding.release();

    expect(await answer).toBe("");
    expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBe("last");
    expect(await binder.process.exited).toEqual({ code: 0, signal: null });
  });
});
