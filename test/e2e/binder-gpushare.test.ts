import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import type { Pod } from "../controlplane/objects.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { applyInfra, createGpuNodes, deviceOf, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { placed, profiles } from "./scheduling.ts";

/** The file that gpushare's own installation guide has people write (config/scheduler-policy-config.yaml, c0b6141). */
const gpusharesOwn = (port: string): JsonObject => ({
  urlPrefix: `http://127.0.0.1:${port}/gpushare-scheduler`,
  filterVerb: "filter",
  bindVerb: "bind",
  enableHTTPS: false,
  nodeCacheCapable: true,
  managedResources: [{ name: "aliyun.com/gpu-mem", ignoredByScheduler: false }],
  ignorable: false,
});

/**
 * What gpushare's device plugin gives a container that asks for so much: it takes the node's pods that are not handed
 * out yet in the order of their assume times, and the first of that size (pkg/gpu/nvidia/allocate.go, 45fb8b8).
 */
function pluginPicks(pods: readonly Pod[], amount: string): Pod | undefined {
  return pods
    .filter((pod) => deviceOf(pod).assigned === "false" && deviceOf(pod).amount === amount)
    .sort((one, other) => (deviceOf(one).assumeTime < deviceOf(other).assumeTime ? -1 : 1))[0];
}

await e2e("a binder in place of gpushare's scheduler extender", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    binder = await startBinder(plane, { name: "drop-in", open: true });
  });
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s and gpushare's own configuration", (version) => {
    const name = (of: string) => `${of}-${version.replaceAll(".", "-")}`;
    let scheduler: Scheduler;
    let pods: Pod[] = [];
    beforeAll(async () => {
      const config = {
        extenders: [gpusharesOwn(new URL(binder.url).port)],
        profiles: profiles(["default-scheduler"], { preemption: false }),
      };
      scheduler = await startScheduler(plane, { version, config });
      await createGpuNodes(plane, [name("node")], { count: 2, each: 8 });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await plane.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
      await plane.api.removeAll({ apiVersion: "v1", kind: "Node" });
    });

    it("places pods on devices that the device plugin then finds, each its own", async () => {
      for (const [index, amount] of [5, 4, 3].entries()) {
        const pod = await plane.api.create(gpuPod(name(`pod-${index}`), amount));
        await placed(plane, pod);
        pods.push(await plane.api.get<Pod>(pod));
      }
      expect(pods.map((pod) => deviceOf(pod).index)).toEqual(["0", "1", "0"]);
      for (const pod of pods) {
        const found = pluginPicks(pods, deviceOf(pod).amount ?? "");
        expect(found?.metadata.name).toBe(pod.metadata.name);
      }
      expect(pods.map((pod) => deviceOf(pod).device)).toEqual(["8", "8", "8"]);
    });

    it("shows who holds what in gpushare's JSON, and a sentence for a node that nobody knows", async () => {
      const { text } = await binder.get(`/gpushare-scheduler/inspect/${name("node")}`);
      expect(JSON.parse(text)).toEqual({
        nodes: [
          {
            name: name("node"),
            totalGPU: 16,
            usedGPU: 12,
            devs: [
              { id: 0, totalGPU: 8, usedGPU: 8, pods: [held(pods[0], 5), held(pods[2], 3)] },
              { id: 1, totalGPU: 8, usedGPU: 4, pods: [held(pods[1], 4)] },
            ],
          },
        ],
      });
      const all = await binder.get("/gpushare-scheduler/inspect");
      expect(JSON.parse(all.text)).toEqual(JSON.parse(text));
      const unknown = await binder.get("/gpushare-scheduler/inspect/no-such-node");
      expect(JSON.parse(unknown.text)).toMatchObject({ nodes: [], error: expect.stringContaining("no-such-node") });
      pods = [];
    });
  });

  it("tells its version, its readiness and its metrics to anybody", async () => {
    expect(await binder.get("/version")).toMatchObject({ status: 200, text: "0.1.0" });
    const ready = JSON.parse((await binder.get("/readyz")).text);
    expect(ready).toMatchObject({ status: "ok", problems: [] });
    expect((await binder.get("/healthz")).status).toBe(200);
    const { text } = await binder.get("/metrics");
    expect(text).toMatch(/berth_requests_total\{verb="bind",outcome="bound"\} [1-9]/);
    expect(text).toMatch(/berth_informer_objects\{resource="pods"\} \d/);
    expect(text).toMatch(/^berth_leader 1$/m);
  });
});

function held(pod: Pod | undefined, usedGPU: number): JsonObject {
  return { name: pod?.metadata.name, namespace: "default", usedGPU };
}
