import { afterAll, beforeAll, expect, it } from "vitest";
import { devices } from "../../src/policy/views/devices.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import { type KubeObject, type Node, nodeRef, type Pod } from "../controlplane/objects.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, createGpuNodes, deviceOf, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { placed, profiles, refused } from "./scheduling.ts";

const unhealthy = (node: string, gpus: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "kube-system", name: `unhealthy-gpu-${node}` },
  data: { gpus },
});

await e2e("a binder in a cluster where nothing else happens", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    await createGpuNodes(plane, ["sick"], { count: 1, each: 10 });
    await createGpuNodes(plane, ["bypassed"], { count: 2, each: 10 });
    await createGpuNodes(plane, ["fresh"], { count: 1, each: 40, fresh: true });
    await plane.api.create(unhealthy("sick", "0"));
    binder = await startBinder(plane, { name: "binder", open: true });
    const config = {
      extenders: [allVerbs(binder, "gpushare-scheduler")],
      profiles: profiles(["default-scheduler"], { preemption: false }),
    };
    await startScheduler(plane, { version: versions.at(-1) ?? "", config });
  });
  afterAll(() => plane?.stop());

  it("publishes who holds what on every node with devices, and again when that has changed", async () => {
    const published = async (node: string) => {
      const read = devices.read?.(await plane.api.get<Node>(nodeRef(node)), 0);
      return read !== undefined && "value" in read ? read.value : undefined;
    };
    const before = await eventually("a node is published", () => published("bypassed"));
    expect(before.devices["aliyun.com/gpu-mem"]?.map(({ used, total }) => [used, total])).toEqual([
      [0n, 10n],
      [0n, 10n],
    ]);
    const pod = await plane.api.create(
      gpuPod("publishing", 3, { spec: { nodeSelector: { "kubernetes.io/hostname": "bypassed" } } }),
    );
    await placed(plane, pod);
    const after = await eventually("the change is published", async (saw) => {
      const now = await published("bypassed");
      saw(now);
      return now !== undefined && now.generation > before.generation && now;
    });
    expect(after.devices["aliyun.com/gpu-mem"]?.map(({ used }) => used)).toEqual([3n, 0n]);
    await plane.api.remove(pod);
    await eventually(
      "its end is published",
      async () => (await published("bypassed"))?.devices["aliyun.com/gpu-mem"]?.[0]?.used === 0n,
    );
  });

  it("closes a node whose ledger it had to make, and has the pods that wait tried again once it is open", async () => {
    const waiting = await plane.api.create(gpuPod("first-on-fresh", 30));
    expect(await refused(plane, waiting)).toContain("made anew");
    await eventually("the pod is bound", async () => (await plane.api.get<Pod>(waiting)).spec.nodeName, {
      within: 100_000,
      every: 500,
    });
    expect(deviceOf(await plane.api.get<Pod>(waiting))).toMatchObject({ index: "0", amount: "30" });
  });

  it("warns once of a pod that was bound past it, and counts it on every device", async () => {
    const stray = await plane.api.create(gpuPod("stray", 6, { schedulerName: "nobody" }));
    await plane.api.bind(stray, "bypassed");
    const warnings = async () => {
      const events = await plane.api.events(stray);
      return events.filter(({ reason }) => reason === "BoundWithoutDevice");
    };
    await eventually("the warning is there", async () => (await warnings()).length > 0);
    await plane.api.patch(stray, { metadata: { labels: { touched: "yes" } } });
    expect(await stays("one warning", async () => (await warnings()).length, 1_000)).toBe(1);
    const { text } = await binder.get("/inspect/bypassed");
    expect(JSON.parse(text).nodes[0].devs[0]).toMatchObject({ usedGPU: 6, pods: [{ name: "stray", usedGPU: 6 }] });
    const late = await plane.api.create(
      gpuPod("late", 5, { spec: { nodeSelector: { "kubernetes.io/hostname": "bypassed" } } }),
    );
    expect(await refused(plane, late)).toContain("no GPU with 5 aliyun.com/gpu-mem free");
  });

  it("places a pod within 5 seconds of the moment when its device has healed", async () => {
    const waiting = await plane.api.create(
      gpuPod("patient", 9, { spec: { nodeSelector: { "kubernetes.io/hostname": "sick" } } }),
    );
    expect(await refused(plane, waiting)).toContain("node(s) had no healthy GPU as large as the 9");
    await stays("still waiting", async () => (await plane.api.get<Pod>(waiting)).spec.nodeName, 2_000);
    await plane.api.remove(unhealthy("sick", ""));
    await eventually("the pod is bound", async () => (await plane.api.get<Pod>(waiting)).spec.nodeName, {
      within: 5_000,
    });
    await placed(plane, waiting);
  });
});
