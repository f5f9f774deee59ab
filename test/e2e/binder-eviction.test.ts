import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import { type Pod, priorityClass } from "../controlplane/objects.ts";
import { buildPod, type PodOptions } from "../controlplane/pods.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, type RunningBinder, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { startReplicaSet } from "./replicaset.ts";
import { nextName, placed, plainNode, profiles, refused } from "./scheduling.ts";

/** What the policy forbids cannot be seen from devices or totals. */
const configuration = {
  profiles: [{ name: "open", plugins: [{ name: "NodeLabel", args: { require: { "example.com/pool": ["open"] } } }] }],
  callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["open"] }],
};

/** A kube-scheduler without a preempt verb has evicted three pods within two seconds by then. */
const LONG_ENOUGH = 10_000;

await e2e("a binder that filters by labels and answers preempt", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    await plane.api.create(priorityClass("critical", 1_000));
    binder = await startBinder(plane, { name: "binder", configuration });
    await createNodes(
      plane.api,
      ["open", "closed"].map((pool) => plainNode(pool, { "example.com/pool": pool })),
    );
  });
  afterAll(() => plane?.stop());

  describe.each(versions)("for kube-scheduler %s", (version) => {
    let scheduler: Scheduler;
    beforeAll(async () => {
      const { managedResources: _, ...everyPod } = allVerbs(binder, "open");
      const config = { extenders: [everyPod], profiles: profiles(["default-scheduler"]) };
      scheduler = await startScheduler(plane, { version, config });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await plane?.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
    });

    const on = (pool: string, options: Partial<PodOptions> = {}): Pod => {
      const nodeSelector = { "example.com/pool": pool };
      return buildPod({ name: nextName(), cpu: "2", ...options, spec: { nodeSelector } });
    };

    it("has pods evicted where the policy lets the pod run, and nobody where it does not", async () => {
      // Bound past the scheduler, as before the policy was there.
      const resident = (pool: string) => buildPod({ name: nextName(), cpu: "2", nodeName: pool });
      const open = await Promise.all(Array.from({ length: 4 }, () => plane.api.create<Pod>(resident("open"))));
      const closed = startReplicaSet(plane.api, { replicas: 4, template: () => resident("closed") });
      try {
        await eventually("the closed node is full", () => closed.placed() === 4);
        const forbidden = await plane.api.create<Pod>(on("closed", { priorityClassName: "critical" }));
        await refused(plane, forbidden);
        await stays("nobody is evicted in vain", () => closed.lost(), LONG_ENOUGH);
        expect(closed.lost()).toBe(0);
        expect((await plane.api.get<Pod>(forbidden)).spec.nodeName).toBeUndefined();
        // Nothing takes the place of who is evicted: what a ReplicaSet bound here would take the room again.
        const urgent = await plane.api.create<Pod>(on("open", { priorityClassName: "critical" }));
        expect(await placed(plane, urgent)).toBe("open");
        const left = await plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" });
        const names = new Set(left.map(({ metadata }) => metadata.name));
        expect(open.filter(({ metadata }) => names.has(metadata.name))).toHaveLength(3);
      } finally {
        await closed.stop();
      }
    });
  });
});
