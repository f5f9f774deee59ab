import { afterAll, beforeAll, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { createGpuNodes, deviceOf, gpuPod } from "./binder.ts";
import { overfull } from "./faults.ts";
import { e2e } from "./gate.ts";
import { applyScheduler, eventsOf, SCHEDULER, startBerth, told } from "./scheduler.ts";
import { placed } from "./scheduling.ts";

await e2e("berth schedule and GPU memory", () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyScheduler(plane);
    await createGpuNodes(plane, ["gpu-1"], { count: 2, each: 16 });
    await startBerth(plane, { name: "scheduler" });
  });
  afterAll(() => plane?.stop());

  const create = (name: string, amount: number, schedulerName = SCHEDULER): Promise<Pod> =>
    plane.api.create(gpuPod(name, amount, { schedulerName }));

  it("gives each pod its device, and a full GPU's next pod as soon as one of them has gone", async () => {
    const [one, other] = [await create("one", 16), await create("other", 12)];
    await Promise.all([placed(plane, one), placed(plane, other)]);
    const devices = await Promise.all([one, other].map(async (pod) => deviceOf(await plane.api.get<Pod>(pod)).index));
    expect(devices.sort()).toEqual(["0", "1"]);
    expect((await told(plane, one, "DeviceAssigned")).message).toMatch(
      /^Device [01] of node gpu-1: 16 aliyun.com\/gpu-mem/,
    );
    // Eight are free altogether, and no device has more than four.
    const waiting = await create("waiting", 8);
    const { message } = await told(plane, waiting, "FailedScheduling");
    expect(message).toMatch(/^0\/1 nodes are available: 1 /);
    await plane.api.remove(one);
    expect(await placed(plane, waiting)).toBe("gpu-1");
    expect(await eventsOf(plane, waiting)).toMatchObject({ Scheduled: 1, DeviceAssigned: 1 });
    for (const pod of [other, waiting]) await plane.api.remove(pod);
  });

  it("never gives a device twice, beside another scheduler on the same nodes", async () => {
    await createGpuNodes(plane, ["gpu-2", "gpu-3"], { count: 4, each: 16 });
    const kubeconfig = await plane.kubeconfig("admin");
    await startBerth(plane, { name: "rival", schedulerName: "rival", kubeconfig });
    // 160 are there, 240 are asked for.
    const pods = await Promise.all(
      Array.from({ length: 40 }, (_, index) => create(`race-${index}`, 6, index % 2 === 0 ? SCHEDULER : "rival")),
    );
    const now = () => Promise.all(pods.map((pod) => plane.api.get<Pod>(pod)));
    const placedNames = async () =>
      (await now()).filter(({ spec }) => spec.nodeName !== undefined).map(({ metadata }) => metadata.name);
    // Two pods of six fit on a device of sixteen, and there are ten devices.
    await eventually(
      "all devices are full",
      async (saw) => {
        const names = await placedNames();
        saw(names.length);
        return names.length === 20;
      },
      { within: 60_000, every: 500 },
    );
    expect(await stays("the pods that are placed", async () => (await placedNames()).length, 3_000)).toBe(20);
    expect(overfull(await now())).toEqual([]);
  });

  it("leaves a pod pending whose profile has nothing that judges devices, and says so", async () => {
    const plugins = [{ name: "NodeResourcesFit" }];
    await startBerth(plane, {
      name: "blind",
      schedulerName: "blind",
      plugins,
      kubeconfig: await plane.kubeconfig("admin"),
    });
    const { message } = await told(plane, await create("unjudged", 1, "blind"), "FailedScheduling");
    expect(message).toBe("the pod insists on aliyun.com/gpu-mem, which no plugin of the profile test judges");
  });
});
