import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import { nodeRef, type Pod } from "../controlplane/objects.ts";
import { buildPod, type PodOptions } from "../controlplane/pods.ts";
import { startProcess } from "../controlplane/process.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { e2e } from "./gate.ts";
import { applyScheduler, argumentsOf, eventsOf, type RunningScheduler, startBerth, told } from "./scheduler.ts";
import { nextName, placed, plainNode, profiles, refused } from "./scheduling.ts";

const ours = ["a", "b", "c"].map((name) => plainNode(`berth-${name}`, { pool: "berth" }));

/** docs/from-scratch.md, row by row. */
await e2e("a scheduler from scratch", (versions) => {
  let plane: ControlPlane;
  const running: RunningScheduler[] = [];
  const created: Pod[] = [];
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyScheduler(plane);
  });
  afterEach(async () => {
    for (const scheduler of running.splice(0)) await scheduler.stop();
    for (const pod of created.splice(0)) await plane.api.remove(pod).catch(() => undefined);
    for (const node of ours) await plane.api.remove(nodeRef(node.metadata.name)).catch(() => undefined);
  });
  afterAll(() => plane?.stop());

  const start = async (...[of, options]: Parameters<typeof startBerth>): Promise<RunningScheduler> => {
    // A Lease of its own: the account of infra/ may hold that of one name only.
    const kubeconfig = await plane.kubeconfig("admin");
    const scheduler = await startBerth(of, { kubeconfig, ...options });
    running.push(scheduler);
    return scheduler;
  };
  const create = async (schedulerName: string, options: Omit<PodOptions, "name"> = {}): Promise<Pod> => {
    const pod = await plane.api.create(buildPod({ schedulerName, ...options, name: nextName() }));
    created.push(pod);
    return pod;
  };
  const whole = (pod: Pod) => eventually("events are written", async () => (await eventsOf(plane, pod))["Scheduled"]);

  it("watch version: places what was there, what comes, what was gated, and what room is made for", async () => {
    await createNodes(plane.api, ours);
    const before = await create("watcher", { cpu: "6" });
    await start(plane, { name: "watcher", schedulerName: "watcher", mode: "watch" });
    const gated = await create("watcher", { spec: { schedulingGates: [{ name: "example.com/wait" }] } });
    const [second, third] = [await create("watcher", { cpu: "6" }), await create("watcher", { cpu: "6" })];
    const nodes = await Promise.all([before, second, third].map((pod) => placed(plane, pod)));
    expect(new Set(nodes).size).toBe(3);
    const fourth = await create("watcher", { cpu: "6" });
    expect(await refused(plane, fourth)).toBe("0/3 nodes are available: 3 Insufficient cpu.");
    await plane.api.patch(gated, { spec: { schedulingGates: [] } });
    await placed(plane, gated);
    await plane.api.remove(before);
    await placed(plane, fourth);
    expect(await whole(second)).toBe(1);
    expect(await eventsOf(plane, second)).toEqual({ Scheduled: 1 });
  });

  it("informer version: does the same from what it keeps", async () => {
    await createNodes(plane.api, ours);
    const before = await create("informed", { cpu: "6" });
    await start(plane, { name: "informed", schedulerName: "informed" });
    const pods = [before, await create("informed", { cpu: "6" }), await create("informed", { cpu: "6" })];
    const nodes = await Promise.all(pods.map((pod) => placed(plane, pod)));
    expect(new Set(nodes).size).toBe(3);
    const fourth = await create("informed", { cpu: "6" });
    expect(await refused(plane, fourth)).toBe("0/3 nodes are available: 3 Insufficient cpu.");
    await plane.api.remove(before);
    await placed(plane, fourth);
  });

  it.each(["watch", "informer"] as const)(
    "random choice, in %s mode: every node is taken sooner or later",
    async (mode) => {
      await createNodes(plane.api, ours);
      const name = `random-${mode}`;
      await start(plane, { name, schedulerName: name, mode, plugins: [{ name: "Random" }] });
      const pods = await Promise.all(Array.from({ length: 24 }, () => create(name)));
      const nodes = await Promise.all(pods.map((pod) => placed(plane, pod)));
      // Each of the three is missed by all 24 with a chance of 1 in 17,000.
      expect(new Set(nodes).size).toBe(3);
    },
  );

  it.each(["watch", "informer"] as const)(
    "no nodes, in %s mode: an event says so, and the first node that comes is taken",
    async (mode) => {
      const scheduler = await start(plane, { name: `none-${mode}`, schedulerName: `none-${mode}`, mode });
      const pod = await create(`none-${mode}`);
      const { message, type } = await told(plane, pod, "FailedScheduling");
      expect([type, message]).toEqual(["Warning", "no nodes available to schedule pods"]);
      expect(scheduler.process.exit()).toBeUndefined();
      await createNodes(plane.api, ours.slice(0, 1));
      expect(await placed(plane, pod)).toBe("berth-a");
    },
  );

  it("several schedulers side by side, kube-scheduler too: each places its own pods and no other", async () => {
    await createNodes(plane.api, [...ours, plainNode("theirs", { pool: "kube" })]);
    const kube = await startScheduler(plane, {
      version: versions.at(-1) ?? "",
      config: { profiles: profiles(["default-scheduler"]) },
    });
    await start(plane, { name: "first", schedulerName: "first" });
    await start(plane, { name: "second", schedulerName: "second" });
    const on = (pool: string) => ({ spec: { nodeSelector: { pool } } });
    const pods = await Promise.all([
      ...Array.from({ length: 4 }, () => create("first", on("berth"))),
      ...Array.from({ length: 4 }, () => create("second", on("berth"))),
      ...Array.from({ length: 4 }, () => create("default-scheduler", on("kube"))),
    ]);
    const nodes = await Promise.all(pods.map((pod) => placed(plane, pod)));
    expect(nodes.slice(8)).toEqual(Array(4).fill("theirs"));
    expect(nodes.slice(0, 8).every((node) => node.startsWith("berth-"))).toBe(true);
    const reporters = await Promise.all(pods.map(async (pod) => (await told(plane, pod, "Scheduled")).by));
    expect(reporters).toEqual([
      ...Array(4).fill("first"),
      ...Array(4).fill("second"),
      ...Array(4).fill("default-scheduler"),
    ]);
    await kube.stop();
    await plane.api.remove(nodeRef("theirs"));
  });

  it.each(["watch", "informer"] as const)(
    "--dry-run in %s mode: says what it would do, and writes nothing",
    async (mode) => {
      await createNodes(plane.api, ours.slice(0, 1));
      const [fits, other] = [await create("dry", { cpu: "6" }), await create("dry", { cpu: "100" })];
      const start = { name: `dry-${mode}`, schedulerName: "dry", mode, kubeconfig: await plane.kubeconfig("admin") };
      const args = [...(await argumentsOf(plane, start)), "--dry-run"];
      const process = startProcess({
        name: start.name,
        folder: plane.folder,
        command: globalThis.process.execPath,
        args: ["src/cli/berth.js", ...args],
      });
      expect(await process.exited).toMatchObject({ code: 0 });
      expect(process.logs()).toMatch(new RegExp(`default/${fits.metadata.name} → berth-a`));
      expect(process.logs()).toContain(
        `default/${other.metadata.name} stays pending: 0/1 nodes are available: 1 Insufficient cpu.`,
      );
      for (const pod of [fits, other]) {
        expect(await eventsOf(plane, pod)).toEqual({});
        const now = await plane.api.get<Pod>(pod);
        expect([now.spec.nodeName, now.metadata["resourceVersion"]]).toEqual([
          undefined,
          pod.metadata["resourceVersion"],
        ]);
      }
    },
  );
});
