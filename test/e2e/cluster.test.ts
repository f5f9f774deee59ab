import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Connection, connect } from "../../src/cluster/connection.ts";
import { startEventRecorder } from "../../src/cluster/events.ts";
import { apiGroups } from "../../src/cluster/groups.ts";
import { type Election, startElection } from "../../src/cluster/lease.ts";
import { patchObject } from "../../src/cluster/patch.ts";
import { placementPorts } from "../../src/cluster/placement-ports.ts";
import { NODES } from "../../src/cluster/resources.ts";
import { writeLedger } from "../../src/placement/ledger.ts";
import type { PlacementPorts } from "../../src/placement/ports.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { buildNodes, createNodes } from "../controlplane/nodes.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";
import { nodeRef, podRef } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { controlPlanePrograms } from "../controlplane/programs.ts";
import { gated } from "./gate.ts";

await gated("the cluster's API, as the binder uses it", controlPlanePrograms([]), () => {
  let plane: ControlPlane;
  let admin: Connection;
  let ports: PlacementPorts;

  const connectAs = async (kubeconfig: string): Promise<Connection> => {
    const connection = await connect({ kubeconfig });
    plane.onStop(() => connection.close());
    return connection;
  };
  const newPod = (name: string): Promise<Pod> => plane.api.create(buildPod({ name, cpu: "1m" }));
  const orderFor = ({ metadata }: Pod, nodeName: string) => ({
    namespace: "default",
    name: metadata.name,
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    nodeName,
    annotations: { "berth.dev/test": "yes" },
  });

  beforeAll(async () => {
    plane = await startControlPlane();
    await createNodes(plane.api, buildNodes(2, { namePrefix: "node-" }));
    admin = await connectAs(await plane.kubeconfig("admin"));
    ports = placementPorts(admin);
  }, 120_000);
  afterAll(() => plane?.stop());

  describe("a connection", () => {
    it("works with a client certificate and with a service account's token, and is told what it may not", async () => {
      for (const path of [
        await plane.kubeconfig("somebody"),
        await plane.serviceAccountKubeconfig("default", "somebody"),
      ]) {
        const connection = await connectAs(path);
        const answer = await connection.call({ method: "GET", path: "/api/v1/nodes" });
        expect(answer).toMatchObject({ kind: "forbidden", status: 403, reason: "Forbidden" });
        expect(answer).toHaveProperty("message", expect.stringContaining("somebody"));
      }
    });

    it("sees the API groups that the server reaches", async () => {
      const groups = await apiGroups(admin);
      expect(groups.kind === "groups" && groups.versions.get("events.k8s.io")).toEqual(["v1"]);
      expect(groups.kind === "groups" && groups.versions.has("berth.dev")).toBe(false);
    });
  });

  describe("a patch", () => {
    it("changes what it names, under the version that was seen, and nothing else", async () => {
      const before = await plane.api.get(nodeRef("node-0"));
      const { resourceVersion = "", uid = "" } = before.metadata;
      const order = {
        resource: NODES,
        name: "node-0",
        patch: { metadata: { annotations: { "berth.dev/wake": "1" } } },
      };
      expect(await patchObject(admin, { ...order, uid, resourceVersion })).toMatchObject({ kind: "ok" });
      expect(await patchObject(admin, { ...order, resourceVersion })).toMatchObject({ kind: "conflict", status: 409 });
      expect(await patchObject(admin, { ...order, uid: "another" })).toMatchObject({ kind: "invalid", status: 422 });
      const steps = [{ op: "add", path: "/metadata/annotations/x", value: "y" }] as const;
      const stale = { resource: NODES, name: "node-0", patch: steps, resourceVersion };
      expect(await patchObject(admin, stale)).toMatchObject({ kind: "conflict", status: 409 });
      const after = await plane.api.get(nodeRef("node-0"));
      expect(after["spec"]).toEqual(before["spec"]);
      expect(after.metadata.annotations).toEqual({ ...before.metadata.annotations, "berth.dev/wake": "1" });
    });

    it("with a test that fails is refused, and one of the status leaves the rest alone", async () => {
      const failing = [{ op: "test", path: "/metadata/name", value: "other" }] as const;
      const refused = await patchObject(admin, { resource: NODES, name: "node-0", patch: failing });
      expect(refused).toMatchObject({ kind: "invalid", status: 422 });
      const condition = { type: "BerthPublished", status: "True", message: "{}" };
      const steps = [{ op: "add", path: "/status/conditions/-", value: condition }] as const;
      const order = { resource: NODES, name: "node-0", patch: steps, subresource: "status" } as const;
      expect(await patchObject(admin, order)).toMatchObject({ kind: "ok" });
      const { status } = await plane.api.get(nodeRef("node-0"));
      expect(status).toMatchObject({ conditions: expect.arrayContaining([expect.objectContaining(condition)]) });
    });
  });

  describe("a Binding", () => {
    it("binds with its annotations in one write, and a second one is a conflict", async () => {
      const pod = await newPod("bound");
      expect(await ports.postBinding(orderFor(pod, "node-0"))).toEqual({ kind: "bound" });
      const now = await plane.api.get<Pod>(pod);
      expect([now.spec.nodeName, now.metadata.annotations]).toEqual(["node-0", { "berth.dev/test": "yes" }]);
      const { resourceVersion: _, ...again } = orderFor(pod, "node-0");
      const second = await ports.postBinding(again);
      expect(second).toMatchObject({ kind: "conflict", message: expect.stringContaining("already assigned to node") });
      const listed = await ports.listPodsOnNode("node-0");
      expect(listed.kind === "pods" && listed.pods.map(({ metadata }) => Object(metadata)["name"])).toEqual(["bound"]);
    });

    it("for another pod of the same name is a conflict, and for one that is gone it is gone (kubernetes #105261)", async () => {
      const pod = await newPod("recreated");
      await plane.api.remove(pod);
      await newPod("recreated");
      const { resourceVersion: _, ...old } = orderFor(pod, "node-0");
      expect(await ports.postBinding(old)).toMatchObject({ kind: "conflict" });
      expect(await ports.postBinding({ ...old, name: "never-was" })).toEqual({ kind: "gone" });
      expect(await ports.markRevoked({ ...orderFor(pod, ""), claimId: "c" })).toMatchObject({ kind: "conflict" });
      expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBeUndefined();
    });

    it("that arrives after its claim was revoked is refused", async () => {
      const pod = await newPod("revoked");
      const { namespace, name, uid, resourceVersion } = orderFor(pod, "node-0");
      expect(await ports.markRevoked({ namespace, name, uid, resourceVersion, claimId: "c1" })).toEqual({
        kind: "patched",
      });
      expect(await ports.markRevoked({ namespace, name, uid, resourceVersion, claimId: "c2" })).toMatchObject({
        kind: "conflict",
      });
      expect(await ports.postBinding(orderFor(pod, "node-0"))).toMatchObject({ kind: "conflict" });
      const read = await ports.readPod({ namespace, name });
      expect(read).toMatchObject({
        kind: "found",
        object: { metadata: { annotations: { "berth.dev/revoked": "c1" } } },
      });
    });
  });

  it("a ledger is created once, replaced under its version, and unknown as long as nobody serves ledgers", async () => {
    const empty = { nodeName: "node-0", nodeUid: "u", epoch: "e", closedUntil: 0, lastAssumeTime: 0n, claims: [] };
    const node = { name: "node-0", uid: "u", devices: [] };
    const object = writeLedger({ ...empty, resourceVersion: "" }, node);
    expect(await ports.readLedger("node-0")).toMatchObject({ kind: "unknown" });
    expect(await ports.createLedger(object)).toMatchObject({ kind: "rejected", status: 404 });
    await plane.api.create<KubeObject>(parse(await readFile("infra/crd/nodeledgers.yaml", "utf8")));
    await eventually("ledgers are served", async () => (await ports.readLedger("node-0")).kind === "gone");
    const written = await ports.createLedger(object);
    expect(written.kind).toBe("written");
    expect(await ports.createLedger(object)).toMatchObject({ kind: "conflict" });
    if (written.kind !== "written") return;
    const { resourceVersion } = Object(written.object["metadata"]);
    const replaced = await ports.updateLedger(writeLedger({ ...empty, resourceVersion }, node));
    expect(replaced.kind).toBe("written");
    if (replaced.kind !== "written") return;
    // Keeping them takes the API server as long as everything else about a ledger of many claims.
    expect(replaced.object["metadata"]).not.toHaveProperty("managedFields");
    expect(await ports.updateLedger(writeLedger({ ...empty, resourceVersion }, node))).toMatchObject({
      kind: "conflict",
    });
  });

  it("an event is accepted, shown with its pod, and its repetitions are counted (kubernetes #95913)", async () => {
    const pod = await newPod("told");
    const reporter = { controller: "berth.dev/binder", instance: "test" };
    const recorder = startEventRecorder({ connection: admin, ...reporter, settle: 50 });
    const regarding = {
      apiVersion: "v1",
      kind: "Pod",
      namespace: "default",
      name: "told",
      uid: pod.metadata.uid ?? "",
    };
    const draft = {
      type: "Warning",
      reason: "BindRefused",
      action: "Binding",
      note: "ä".repeat(1000),
      regarding,
    } as const;
    for (let i = 0; i < 5; i++) recorder.record(draft);
    await recorder.stop();
    expect(recorder.state()).toMatchObject({ failed: {} });
    const [event, ...others] = await plane.api.events(pod);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: "Warning", reason: "BindRefused", series: { count: 5 } });
    const nobody = await connectAs(await plane.kubeconfig("nobody"));
    const silenced = startEventRecorder({ connection: nobody, ...reporter });
    silenced.record(draft);
    await silenced.stop();
    expect(silenced.state().failed).toEqual({ Forbidden: 1 });
  });

  describe("an election", () => {
    const times = { duration: 3_000, renewDeadline: 2_000, retryPeriod: 300 };
    const candidate = (identity: string): Election =>
      startElection({ connection: admin, namespace: "default", name: "binder", identity, ...times });

    it("has a leader on a real API server, and another one as soon as that one stops (client-js #828)", async () => {
      const first = candidate("first");
      await eventually("the first one leads", () => first.isLeader());
      const second = candidate("second");
      await eventually("the second one follows", () => second.state().holder === "first");
      await first.stop();
      await eventually("the second one leads", () => second.isLeader(), { within: 2_500 });
      expect(second.state()).toMatchObject({ holder: "second", transitions: 1 });
      await second.stop();
    });

    it("has no leader while the API server is away for long, and one when it is back", async () => {
      const election = candidate("lonely");
      await eventually("it leads", () => election.isLeader());
      await plane.restartApiServer({
        whileDown: async () => {
          await eventually("it has stepped down", () => !election.isLeader());
        },
      });
      await eventually("it leads again", () => election.isLeader());
      expect(election.state().problem).toBeUndefined();
      await election.stop();
    });
  });

  it("a pod's fields that nobody here knows survive a revocation (gpushare #122)", async () => {
    const pod = await plane.api.create<Pod>(buildPod({ name: "odd", spec: { enableServiceLinks: false } }));
    const { namespace, name, uid, resourceVersion } = orderFor(pod, "node-0");
    await ports.markRevoked({ namespace, name, uid, resourceVersion, claimId: "c1" });
    const now = await plane.api.get<Pod>(podRef("odd"));
    expect(now.spec).toEqual(pod.spec);
  });
});
