import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import { type Pod, priorityClass } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { type RunningFunction, startOnNode } from "./function.ts";
import { e2e } from "./gate.ts";
import { type ReplicaSet, startReplicaSet } from "./replicaset.ts";
import { extenderEntry, nextName, plainNode, profiles, refused } from "./scheduling.ts";

const SECRET = "e2e-eviction-path-secret";
const SLOT = "example.com/slot";
const slot = { requests: { [SLOT]: "1" }, limits: { [SLOT]: "1" } };
const policy = {
  configuration: {
    profiles: [
      { name: "nowhere", plugins: [{ name: "NodeLabel", args: { require: { "example.com/pool": ["none"] } } }] },
    ],
    callers: [{ name: "cluster-a", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["nowhere"] }],
  },
  secrets: { CLUSTER_A_PATH: SECRET },
};

/** Evictions that are no accident any more. */
const MANY = 3;

await e2e("a filter that nobody answers preempt for", (versions) => {
  let plane: ControlPlane;
  let served: RunningFunction;
  beforeAll(async () => {
    plane = await startControlPlane();
    served = await startOnNode(plane, policy);
    await plane.api.create(priorityClass("critical", 1_000));
    await createNodes(plane.api, ["evicting", "sparing"].map(fullNode));
  }, 180_000);
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    let running: Scheduler[] = [];
    beforeAll(async () => {
      const start = (name: string, preemption: boolean) =>
        startScheduler(plane, {
          version,
          config: { profiles: profiles([name], { preemption }), extenders: [entry()] },
        });
      running = await Promise.all([start("evicting", true), start("sparing", false)]);
    }, 120_000);
    afterAll(async () => {
      await Promise.all(running.map((scheduler) => scheduler.stop()));
    });

    function entry(): JsonObject {
      const fields = { filterVerb: "filter", managedResources: [{ name: SLOT }] };
      return extenderEntry(served, `${SECRET}/nowhere`, fields);
    }

    /** A pod of a kube-scheduler that may run only on the node of its name. */
    const on = (name: string, options: object): Pod =>
      buildPod({ name: nextName(), schedulerName: name, cpu: "2", ...options, spec: { nodeSelector: { side: name } } });

    it("evicts pod after pod for one that may run nowhere, and none with preemption off", async ({ annotate }) => {
      const [evicting, sparing] = [replicaSet("evicting"), replicaSet("sparing")];
      try {
        await eventually("the nodes are full", () => evicting.placed() === 4 && sparing.placed() === 4);
        const urgent = { priorityClassName: "critical", ...slot };
        const forbidden = await plane.api.create<Pod>(on("evicting", urgent));
        const began = Date.now();
        const spared = await plane.api.create<Pod>(on("sparing", urgent));
        await eventually(`${MANY} pods are evicted`, () => evicting.lost() >= MANY, { within: 60_000 });
        expect(await refused(plane, spared)).toContain("1 Insufficient cpu");
        expect(sparing.lost()).toBe(0);
        for (const pod of [forbidden, spared]) expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBeUndefined();
        const seconds = Math.ceil((Date.now() - began) / 1000);
        await annotate(`${evicting.lost()} evictions in ${seconds} s; with preemption off ${sparing.lost()}`, "seen");
      } finally {
        await Promise.all([evicting.stop(), sparing.stop()]);
        await plane.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
      }
    });

    function replicaSet(name: string): ReplicaSet {
      return startReplicaSet(plane.api, { replicas: 4, template: () => on(name, { labels: { side: name } }) });
    }
  });
});

/** A node with room for four pods, and resources that nobody counts. */
function fullNode(side: string) {
  const node = plainNode(side, { side });
  const { allocatable, capacity } = node.status;
  return {
    ...node,
    status: {
      ...node.status,
      allocatable: { ...allocatable, [SLOT]: "100" },
      capacity: { ...capacity, [SLOT]: "100" },
    },
  };
}
