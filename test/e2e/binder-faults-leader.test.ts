import { afterAll, beforeAll, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { type ApiProxy, type Asked, startApiProxy } from "./apiproxy.ts";
import type { StoredLedger } from "./bind-calls.ts";
import {
  allVerbs,
  applyInfra,
  createGpuNodes,
  deviceOf,
  gpuPod,
  NAMESPACE,
  type RunningBinder,
  startBinder,
} from "./binder.ts";
import { bind, ledgerRef, metric, orphan, overfull, told } from "./faults.ts";
import { startFront } from "./front.ts";
import { e2e } from "./gate.ts";
import { makeNextRelease, NEXT_FORMAT, NEXT_RELEASE } from "./nextrelease.ts";
import { profiles, refused } from "./scheduling.ts";

const LEASE = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };

await e2e("several binders", (versions) => {
  let plane: ControlPlane;
  let proxy: ApiProxy;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    proxy = await startApiProxy(plane, "proxy");
    await createGpuNodes(plane, ["one", "two", "three"], { count: 2, each: 24 });
  });
  afterAll(() => plane?.stop());

  const leads = async (binder: RunningBinder): Promise<boolean> => (await metric(binder, "berth_leader")) === 1;
  const holder = async (): Promise<unknown> => {
    const [lease] = await plane.api.list<KubeObject>({ ...LEASE, namespace: NAMESPACE });
    return Object(lease?.["spec"])["holderIdentity"];
  };

  it("have another leader when the Lease cannot be renewed, never two, and readiness tells who is stuck", async () => {
    const stuck = await startBinder(plane, { name: "stuck", open: true, env: { BERTH_KUBECONFIG: proxy.kubeconfig } });
    await eventually("the first one leads", () => leads(stuck));
    const standby = await startBinder(plane, { name: "standby", open: true });
    const first = await holder();
    expect([await leads(standby), (await standby.get("/readyz")).status]).toEqual([false, 200]);

    const isWrite = ({ method, path }: Asked) => method !== "GET" && path.includes("/leases");
    proxy.fault = (asked) => (isWrite(asked) ? "hang" : undefined);
    await eventually("the standby leads", async () => {
      const [one, other] = [await leads(stuck), await leads(standby)];
      if (one && other) throw new Error("two lead");
      return other;
    });

    const { status, text } = await stuck.get("/readyz");
    expect([status, JSON.parse(text).problems]).toEqual([503, [expect.stringContaining("the Lease cannot be had")]]);
    expect((await standby.get("/readyz")).status).toBe(200);
    expect(await holder()).not.toBe(first);
    const pod = await orphan(plane, "meanwhile", 2);
    expect(await bind(standby, pod, "one")).toBe("");
    expect(await told(plane, pod, "DeviceAssigned")).toBe(1);

    proxy.fault = undefined;
    await eventually("the first one waits in line", async () => (await stuck.get("/readyz")).status === 200);
    expect([await leads(stuck), await leads(standby)]).toEqual([false, true]);
    await Promise.all([stuck.stop(), standby.stop()]);
  });

  it("of two releases hand over in a rolling upgrade: no pod is lost or bound twice, newer ledgers are left alone", async () => {
    const old = await startBinder(plane, { name: "old", open: true });
    await eventually("the old one leads", () => leads(old));
    const front = await startFront(plane, old.url);
    const config = {
      extenders: [allVerbs({ ...old, url: front.url }, "gpushare-scheduler")],
      profiles: profiles(["default-scheduler"], { preemption: false }),
    };
    await startScheduler(plane, { version: versions.at(-1) ?? "", config });
    const create = (from: number) =>
      Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((index) => plane.api.create(gpuPod(`rolling-${from + index}`, 4))));
    const pods = await create(0);
    const bound = async () => {
      const all = await Promise.all(pods.map((pod) => plane.api.get<Pod>(pod)));
      return all.filter(({ spec }) => spec.nodeName !== undefined);
    };
    await eventually("some are bound by the old one", async () => (await bound()).length > 2);

    const young = await startBinder(plane, { name: "new", open: true, program: await makeNextRelease(plane.folder) });
    expect([(await young.get("/version")).text, await leads(young)]).toEqual([NEXT_RELEASE, false]);
    const shared = await orphan(plane, "shared", 4);
    expect(await bind(young, shared, "three")).toBe("");
    expect((await plane.api.get<StoredLedger>(ledgerRef("three") as StoredLedger)).spec.format).toBe(NEXT_FORMAT);
    const turnedAway = await orphan(plane, "turned-away", 4);
    expect(await bind(old, turnedAway, "three")).toBe("The device ledger of the node cannot be used now");
    expect(old.logs()).toContain(`has format ${NEXT_FORMAT}, written by a newer release`);

    const onThree = { spec: { nodeSelector: { "kubernetes.io/hostname": "three" } } };
    const patient = await plane.api.create(gpuPod("patient", 4, onThree));
    const why = await refused(plane, patient);
    expect(why).toContain("node(s) had a device ledger that a newer release of the binder has written");
    pods.push(patient);

    front.leadTo(young.url);
    pods.push(...(await create(8)));
    await old.stop();
    expect(old.process.exit()).toEqual({ code: 0, signal: null });
    await eventually("the new one leads", () => leads(young), { within: 5_000 });
    await eventually(
      "all are bound",
      async (saw) => {
        const done = (await bound()).length;
        saw(done);
        return done === pods.length;
      },
      { within: 60_000 },
    );

    for (const pod of await bound())
      expect(deviceOf(pod)).toMatchObject({ amount: "4", device: "24", assigned: "false" });
    expect(overfull(await plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" }))).toEqual([]);
    const scheduled = await Promise.all(pods.map((pod) => told(plane, pod, "Scheduled")));
    expect(scheduled).toEqual(pods.map(() => 1));
    expect(await bind(young, turnedAway, "three")).toBe("");
  });
});
