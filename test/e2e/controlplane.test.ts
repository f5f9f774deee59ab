import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { buildNodes, createNodes, jsonLength } from "../controlplane/nodes.ts";
import type { Node, Pod } from "../controlplane/objects.ts";
import { buildFullPod, buildPod } from "../controlplane/pods.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { e2e } from "./gate.ts";

await e2e("the control plane for tests", (versions) => {
  let plane: ControlPlane;
  let nodes: Node[];

  beforeAll(async () => {
    plane = await startControlPlane();
    nodes = await createNodes(plane.api, buildNodes(3, { namePrefix: "node-" }));
  }, 120_000);
  afterAll(() => plane?.stop());

  const boundNode = (pod: Pod): Promise<string> =>
    eventually(`pod ${pod.metadata.name} has a node`, async (saw) => {
      const now = await plane.api.get<Pod>(pod);
      saw(now.status);
      return now.spec.nodeName;
    });

  describe.each(versions)("with kube-scheduler %s", (version) => {
    it("places a pod on a node and reports it in one Scheduled event", async () => {
      const scheduler = await startScheduler(plane, { version });
      try {
        const name = `placed-${version.replaceAll(".", "-")}`;
        const pod = await plane.api.create(buildPod({ name, cpu: "100m", memory: "64Mi" }));
        const node = await boundNode(pod);
        expect(nodes.map(({ metadata }) => metadata.name)).toContain(node);
        await eventually("the Scheduled event is there", async (saw) => {
          const events = await plane.api.events(pod);
          saw(events);
          return events.length > 0;
        });
        const events = await plane.api.events(pod);
        expect(events.map(({ type, reason, message }) => [type, reason, message])).toEqual([
          ["Normal", "Scheduled", `Successfully assigned default/${name} to ${node}`],
        ]);
      } finally {
        await scheduler.stop();
      }
    }, 60_000);

    it("leaves a pod pending, with the reason in an event, while no node has room for it", async () => {
      const scheduler = await startScheduler(plane, { version });
      try {
        const pod = await plane.api.create(buildPod({ name: `large-${version.replaceAll(".", "-")}`, cpu: "900" }));
        const event = await eventually("the pod is refused", async () => (await plane.api.events(pod))[0]);
        expect([event.reason, event.message]).toEqual([
          "FailedScheduling",
          expect.stringContaining("0/3 nodes are available: 3 Insufficient cpu"),
        ]);
        expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBeUndefined();
        await plane.api.remove(pod);
      } finally {
        await scheduler.stop();
      }
    }, 60_000);
  });

  it("shows nodes of the size and with the managedFields that real ones have", () => {
    for (const node of nodes) {
      expect(jsonLength(node)).toBeGreaterThan(13_000);
      expect(jsonLength(node)).toBeLessThan(14_000);
      expect(node.spec.taints).toBeUndefined();
      expect(new Set(node.metadata.managedFields?.map(({ manager }) => manager))).toEqual(
        new Set(["kubelet", "karpenter", "aws-cloud-controller-manager", "kube-controller-manager"]),
      );
    }
  });

  it("accepts a pod with everything that a chart puts into one", async () => {
    const pod = await plane.api.create(buildFullPod({ name: "full", cpu: "500m", memory: "512Mi" }));
    expect(pod.spec.initContainers?.map(({ name }) => name)).toEqual(["migrate", "mesh-proxy"]);
    await plane.api.remove(pod);
  });

  it("lets a user do what RBAC allows and no more", async () => {
    const kubeconfig = await plane.serviceAccountKubeconfig("default", "reader");
    expect(kubeconfig).toContain("default-reader");
    const review = await plane.api.request<{ status: { allowed: boolean } }>({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "system:serviceaccount:default:reader", resourceAttributes: { verb: "list", resource: "pods" } },
      },
    });
    expect(review.status.allowed).toBe(false);
  });

  it("keeps its data when the API server is killed and started again", async () => {
    const before = await plane.api.list<Node>({ apiVersion: "v1", kind: "Node" });
    await plane.restartApiServer();
    const after = await plane.api.list<Node>({ apiVersion: "v1", kind: "Node" });
    expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
  }, 60_000);
});
