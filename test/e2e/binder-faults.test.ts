import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { nodeRef, type Pod } from "../controlplane/objects.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { type ApiProxy, type Asked, type Misdeed, startApiProxy, status } from "./apiproxy.ts";
import { allVerbs, applyInfra, createGpuNodes, deviceOf, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { bind, filter, metric, orphan, overfull, promisedOn, told } from "./faults.ts";
import { e2e } from "./gate.ts";
import { placed, profiles } from "./scheduling.ts";

/** The watch may still show a pod that is gone in its last moment. */
const ENDED = /^The pod (does not exist any more|was replaced by another|has ended or is being deleted)/;

await e2e("a binder whose API server misbehaves while pods are bound", (versions) => {
  let plane: ControlPlane;
  let proxy: ApiProxy;
  let binder: RunningBinder;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    proxy = await startApiProxy(plane, "proxy");
    await createGpuNodes(plane, ["one", "two", "short-lived"], { count: 4, each: 20 });
    const env = { BERTH_KUBECONFIG: proxy.kubeconfig };
    binder = await startBinder(plane, { name: "binder", open: true, env });
    const config = {
      extenders: [allVerbs(binder, "gpushare-scheduler")],
      profiles: profiles(["default-scheduler"], { preemption: false }),
    };
    await startScheduler(plane, { version: versions.at(-1) ?? "", config });
  });
  afterAll(() => plane?.stop());
  afterEach(() => {
    proxy.fault = undefined;
  });

  const isBinding = ({ method, path }: Asked, name: string): boolean =>
    method === "POST" && path.endsWith(`/pods/${name}/binding`);
  const onBinding = (name: string, misdeed: () => Misdeed | undefined | Promise<Misdeed | undefined>): void => {
    proxy.fault = (asked) => (isBinding(asked, name) ? misdeed() : undefined);
  };
  const bindingsOf = (name: string): number => proxy.asked.filter((asked) => isBinding(asked, name)).length;
  const now = (pod: Pod): Promise<Pod> => plane.api.get<Pod>(pod);

  describe("a pod that kube-scheduler places", () => {
    it("is bound once and told of once when the answer to its Binding is lost after it took effect", async () => {
      onBinding("answer-lost", () => "swallow");
      const pod = await plane.api.create(gpuPod("answer-lost", 3));
      await placed(plane, pod);
      expect(await told(plane, pod, "Scheduled")).toBe(1);
      expect(await told(plane, pod, "DeviceAssigned")).toBe(1);
      expect(deviceOf(await now(pod))).toMatchObject({ amount: "3", device: "20", assigned: "false" });
      expect(bindingsOf("answer-lost")).toBe(1);
    });

    it("is a success when the API server says 409 because it is bound to that very node already", async () => {
      onBinding("told-twice", () => "twice");
      const pod = await plane.api.create(gpuPod("told-twice", 3));
      const node = await placed(plane, pod);
      expect(await told(plane, pod, "Scheduled")).toBe(1);
      expect(deviceOf(await now(pod)).amount).toBe("3");
      expect(await promisedOn(plane, node)).toContain("told-twice");
    });

    it("is tried again and bound once when nobody answers its first Binding", async () => {
      let times = 0;
      onBinding("never-arrived", () => (++times === 1 ? "hang" : undefined));
      const pod = await plane.api.create(gpuPod("never-arrived", 3));
      await placed(plane, pod);
      expect(await told(plane, pod, "Scheduled")).toBe(1);
      expect(await metric(binder, 'berth_requests_total{verb="bind",outcome="unknown"}')).toBeGreaterThan(0);
    });

    it("is bound when the API server refuses the binder's events, and a metric counts what was lost (k/k #95913)", async () => {
      proxy.fault = ({ path }) => (path.startsWith("/apis/events.k8s.io/") ? status(403, "Forbidden") : undefined);
      const pod = await plane.api.create(gpuPod("untold", 3));
      await placed(plane, pod);
      expect(await told(plane, pod, "Scheduled")).toBe(1);
      await eventually("the loss is counted", async () => {
        return (await metric(binder, 'berth_event_failures{reason="Forbidden"}')) > 0;
      });
      expect((await plane.api.events(pod)).map(({ reason }) => reason)).not.toContain("DeviceAssigned");
    });
  });

  describe("a pod that changed after filter had let it pass", () => {
    const passes = async (name: string): Promise<Pod> => {
      const pod = await orphan(plane, name, 3);
      expect(await filter(binder, pod, "one")).toBe("");
      return pod;
    };

    it("is refused in words and nothing is promised to it when another scheduler has bound it elsewhere", async () => {
      const pod = await passes("snatched");
      onBinding("snatched", async () => {
        await plane.api.bind(pod, "two");
        return undefined;
      });
      expect(await bind(binder, pod, "one")).toBe("The pod is bound to another node already");
      expect((await now(pod)).spec.nodeName).toBe("two");
      expect(await promisedOn(plane, "one")).not.toContain("snatched");
      expect(await told(plane, pod, "BindRefused")).toBe(1);
      expect(await metric(binder, 'berth_refusals_total{verb="bind",reason="elsewhere"}')).toBe(1);
    });

    it("is refused and its device is free at once when it was deleted (HAMi #2923)", async () => {
      const pod = await passes("deleted");
      await plane.api.remove(pod);
      expect(await bind(binder, pod, "one")).toMatch(ENDED);
      const late = await passes("deleted-late");
      onBinding("deleted-late", async () => {
        await plane.api.remove(late);
        return undefined;
      });
      expect(await bind(binder, late, "one")).toBe("The pod does not exist any more");
      expect(await promisedOn(plane, "one")).not.toContain("deleted-late");
    });

    it("is not mistaken for the pod that was recreated under its name (k/k #105261)", async () => {
      const old = await passes("recreated");
      await plane.api.remove(old);
      const young = await orphan(plane, "recreated", 3);
      expect(await bind(binder, old, "one")).toMatch(ENDED);
      expect(bindingsOf("recreated")).toBe(0);
      const late = await passes("recreated-late");
      onBinding("recreated-late", async () => {
        await plane.api.remove(late);
        await orphan(plane, "recreated-late", 3);
        return undefined;
      });
      expect(await bind(binder, late, "one")).toBe("The pod was replaced by another one of the same name");
      for (const pod of [young, late]) {
        const { spec, metadata } = await now(pod);
        expect([spec.nodeName, metadata.annotations]).toEqual([undefined, undefined]);
      }
      expect(await promisedOn(plane, "one")).not.toContain("recreated-late");
    });

    it("is refused when its node was deleted", async () => {
      const pod = await orphan(plane, "homeless", 3);
      await eventually("the node is known", async () => (await filter(binder, pod, "short-lived")) === "");
      await plane.api.remove(nodeRef("short-lived"));
      const unknown = "The node is not known to the binder yet";
      await eventually("the node is forgotten", async () => (await filter(binder, pod, "short-lived")) !== "");
      expect(await bind(binder, pod, "short-lived")).toBe(unknown);
      expect((await now(pod)).spec.nodeName).toBeUndefined();
    });
  });

  it("binds a pod once that is asked for twice, and says yes twice (k/k #96579)", async () => {
    const pod = await orphan(plane, "asked-twice", 3);
    expect(await Promise.all([bind(binder, pod, "one"), bind(binder, pod, "one")])).toEqual(["", ""]);
    const before = await now(pod);
    expect(await bind(binder, pod, "one")).toBe("");
    expect(await now(pod)).toEqual(before);
    expect((await promisedOn(plane, "one")).filter((name) => name === "asked-twice")).toHaveLength(1);
  });

  it("gives the device of a pod that has finished to the next one (HAMi #2923)", async () => {
    await createGpuNodes(plane, ["finishing"], { count: 1, each: 10 });
    const [done, next] = [await orphan(plane, "done", 10), await orphan(plane, "next", 10)];
    await eventually("the node is known", async () => (await filter(binder, done, "finishing")) === "");
    expect(await bind(binder, done, "finishing")).toBe("");
    expect(await bind(binder, next, "finishing")).toContain("no GPU with 10 aliyun.com/gpu-mem free");
    await plane.api.patch(done, { status: { phase: "Succeeded" } }, { subresource: "status" });
    await eventually("the device is free", async () => (await filter(binder, next, "finishing")) === "");
    expect(await bind(binder, next, "finishing")).toBe("");
    expect(deviceOf(await now(next))).toMatchObject({ index: "0", amount: "10" });
  });

  it("places every pod once, within the devices, when the API server is restarted in mid-load", async () => {
    const create = (indexes: readonly number[]) =>
      Promise.all(indexes.map((index) => plane.api.create(gpuPod(`load-${index}`, 4))));
    const pods = await create([...Array(16).keys()]);
    await eventually("the first pods are placed", async () => bindingsOf("load-0") > 0, { every: 5 });
    await plane.restartApiServer();
    pods.push(...(await create([16, 17, 18, 19, 20, 21, 22, 23])));
    for (const pod of pods) {
      const node = async () => (await now(pod)).spec.nodeName;
      await eventually(`${pod.metadata.name} has a node`, node, { within: 90_000 });
    }
    expect(overfull(await plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" }))).toEqual([]);
    for (const pod of pods) expect(deviceOf(await now(pod)).amount).toBe("4");
    await eventually("the binder is ready", async () => (await binder.get("/readyz")).status === 200);
    expect(binder.process.exit()).toBeUndefined();
  });

  it("has written nothing to pods in all this but Bindings, and marks of promises taken back (gpushare #122)", async () => {
    const writes = proxy.asked.filter(({ method, path }) => method !== "GET" && path.includes("/pods/"));
    expect(writes.length).toBeGreaterThan(30);
    const shapes = writes.map(({ method, path }) => `${method} ${path.endsWith("/binding") ? "binding" : "pod"}`);
    expect(shapes.filter((shape) => shape !== "POST binding" && shape !== "PATCH pod")).toEqual([]);
    for (const pod of await plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" })) {
      const keys = Object.keys(pod.metadata.annotations ?? {}).filter((key) => key.startsWith("berth.dev/"));
      expect(keys.filter((key) => key !== "berth.dev/policy" && key !== "berth.dev/revoked")).toEqual([]);
    }
  });
});
