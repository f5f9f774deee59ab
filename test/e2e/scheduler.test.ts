import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import { type KubeObject, nodeRef, type Pod } from "../controlplane/objects.ts";
import { buildPod, type PodOptions } from "../controlplane/pods.ts";
import { e2e } from "./gate.ts";
import { applyScheduler, eventsOf, type RunningScheduler, SCHEDULER, startBerth, told } from "./scheduler.ts";
import { nextName, placed, plainNode } from "./scheduling.ts";

await e2e("berth schedule", () => {
  let plane: ControlPlane;
  let scheduler: RunningScheduler;
  const created: Pod[] = [];
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyScheduler(plane);
    await createNodes(plane.api, [plainNode("one"), plainNode("two")]);
    scheduler = await startBerth(plane, { name: "scheduler" });
  });
  afterEach(async () => {
    for (const pod of created.splice(0)) await plane.api.remove(pod).catch(() => undefined);
  });
  afterAll(() => plane?.stop());

  const create = async (options: Omit<PodOptions, "name"> = {}): Promise<Pod> => {
    const pod = await plane.api.create(buildPod({ schedulerName: SCHEDULER, ...options, name: nextName() }));
    created.push(pod);
    return pod;
  };

  it("places the pods that name it, with exactly one event Scheduled, in kube-scheduler's words", async () => {
    const pod = await create({ cpu: "1" });
    const node = await placed(plane, pod);
    const { message, type, by } = await told(plane, pod, "Scheduled");
    expect(message).toBe(`Successfully assigned default/${pod.metadata.name} to ${node}`);
    expect([type, by]).toEqual(["Normal", SCHEDULER]);
    expect(await stays("events of the pod", () => eventsOf(plane, pod), 1_000)).toEqual({ Scheduled: 1 });
  });

  it("leaves the pods of other schedulers alone, and those that are gated until they are not", async () => {
    const other = await create({ schedulerName: "somebody-else" });
    const gated = await create({ spec: { schedulingGates: [{ name: "example.com/wait" }] } });
    const nodeOf = async (pod: Pod) => (await plane.api.get<Pod>(pod)).spec.nodeName;
    const after = await create();
    await placed(plane, after);
    expect([await nodeOf(other), await nodeOf(gated)]).toEqual([undefined, undefined]);
    await plane.api.patch(gated, { spec: { schedulingGates: [] } });
    await placed(plane, gated);
    expect(await stays("the other's pod has no node", () => nodeOf(other), 1_000)).toBeUndefined();
    expect(await eventsOf(plane, other)).toEqual({});
  });

  it("says why a pod has no node, counts per reason, in the event and in the condition", async () => {
    await plane.api.patch(nodeRef("two"), { spec: { unschedulable: true } });
    const pod = await create({ cpu: "100", memory: "1Ti" });
    const { message, type, by } = await told(plane, pod, "FailedScheduling");
    expect(message).toBe(
      "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) were unschedulable.",
    );
    expect([type, by]).toEqual(["Warning", SCHEDULER]);
    const condition = await eventually("the condition says so", async () => {
      const { status } = await plane.api.get<Pod>(pod);
      return status?.conditions?.find((each) => each.type === "PodScheduled");
    });
    expect(condition).toMatchObject({ status: "False", reason: "Unschedulable", message });
    await plane.api.patch(nodeRef("two"), { spec: { unschedulable: null } });
  });

  it("wakes a pod that waits when a pod has gone, a node has come, or a node has changed", async () => {
    const [large, small] = [await create({ cpu: "7" }), await create({ cpu: "7" })];
    await Promise.all([placed(plane, large), placed(plane, small)]);
    const waiting = await create({ cpu: "6" });
    await told(plane, waiting, "FailedScheduling");
    await plane.api.remove(large);
    await placed(plane, waiting);
    const next = await create({ cpu: "6" });
    await told(plane, next, "FailedScheduling");
    await createNodes(plane.api, [{ ...plainNode("three"), spec: { unschedulable: true } }]);
    await eventually("the new node is counted", async () =>
      (await plane.api.events(next)).some(({ message }) => message?.includes("0/3 nodes")),
    );
    await plane.api.patch(nodeRef("three"), { spec: { unschedulable: null } });
    expect(await placed(plane, next)).toBe("three");
    await plane.api.remove(next);
    await plane.api.remove(nodeRef("three"));
  });

  it.each([
    ["topologySpreadConstraints", { topologySpreadConstraints: [spread("DoNotSchedule")] }],
    ["podAffinity", { affinity: { podAffinity: REQUIRED } }],
    ["podAntiAffinity", { affinity: { podAntiAffinity: REQUIRED } }],
    ["volumes", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] }],
  ])("leaves a pod pending that insists on %s, and says so", async (need, spec) => {
    const pod = await create({ spec });
    const { message } = await told(plane, pod, "FailedScheduling");
    expect(message).toContain(`the pod insists on ${need}, which no plugin of the profile default-plugins judges`);
    expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBeUndefined();
  });

  it("places a pod that only prefers to be spread", async () => {
    const pod = await create({ spec: { topologySpreadConstraints: [spread("ScheduleAnyway")] } });
    await placed(plane, pod);
  });

  it("tells probes and metrics", async () => {
    expect(JSON.parse((await scheduler.get("/readyz")).text)).toMatchObject({ status: "ok", leader: true });
    const { text } = await scheduler.get("/metrics");
    expect(text).toMatch(/^berth_leader 1$/m);
    expect(text).toMatch(/^berth_scheduler_bind_seconds_count\{outcome="bound"\} [1-9]/m);
  });

  it("ends in good order when it is asked to", async () => {
    await scheduler.stop();
    expect(scheduler.process.exit()).toMatchObject({ code: 0 });
    const lease = await plane.api.get<KubeObject>({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: SCHEDULER, namespace: "berth-system" },
    });
    expect(lease["spec"]).toMatchObject({ holderIdentity: "" });
  });
});

const REQUIRED = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" },
  ],
};

function spread(whenUnsatisfiable: string) {
  return {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable,
    labelSelector: { matchLabels: { app: "web" } },
  };
}
