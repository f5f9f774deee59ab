import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { type RunningFunction, startOnNode } from "./function.ts";
import { e2e } from "./gate.ts";
import { nextName, placed, plainNode, refused } from "./scheduling.ts";

const SECRET = "e2e-documented-path-secret";
const POOL = "example.com/pool";
const policy = {
  configuration: {
    profiles: [
      {
        name: "default",
        plugins: [{ name: "NodeLabel", args: { require: { [POOL]: [] }, prefer: { [POOL]: ["first"] } } }],
      },
    ],
    callers: [{ name: "cluster-a", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["default"] }],
  },
  secrets: { CLUSTER_A_PATH: SECRET },
};

const page = readFileSync(join(import.meta.dirname, "../../docs/behind-the-scheduler.md"), "utf8");
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = ""]) => block);

await e2e("a configuration of docs/behind-the-scheduler.md", (versions) => {
  let plane: ControlPlane;
  let served: RunningFunction;
  beforeAll(async () => {
    plane = await startControlPlane();
    served = await startOnNode(plane, policy);
    await createNodes(plane.api, [
      plainNode("first", { [POOL]: "first" }),
      plainNode("second", { [POOL]: "second" }),
      plainNode("outside"),
    ]);
    await plane.api.create(buildPod({ name: "resident", cpu: "2", memory: "4Gi", nodeName: "first" }));
  }, 120_000);
  afterAll(() => plane?.stop());

  /** Starts kube-scheduler with the block as it stands, address and CA filled in; gives a pod of it. */
  async function withPod<T>(version: string, block: string, use: (pod: Pod) => Promise<T>, spec = {}): Promise<T> {
    const filled = block
      .replace("https://berth.example.com/<secret>", `${served.url}/${SECRET}`)
      .replace("<base64 of the CA's PEM file>", served.caData);
    const { apiVersion, kind, ...config } = parse(filled) as JsonObject;
    expect([apiVersion, kind]).toEqual(["kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"]);
    const scheduler = await startScheduler(plane, { version, config });
    const pod = await plane.api.create<Pod>(buildPod({ name: nextName(), schedulerName: "berth", cpu: "1", spec }));
    try {
      return await use(pod);
    } finally {
      await plane.api.remove(pod);
      await scheduler.stop();
    }
  }

  describe.each(versions)("with kube-scheduler %s", (version) => {
    const [scores = "", filters = ""] = blocks;

    it("has a pod placed where the function prefers it, by prioritize alone", async () => {
      expect(blocks).toHaveLength(2);
      expect(await withPod(version, scores, (pod) => placed(plane, pod))).toBe("first");
    });

    it("has a pod placed where the function lets it, and keeps it from other nodes, by filter and prioritize", async () => {
      expect(await withPod(version, filters, (pod) => placed(plane, pod))).toBe("first");
      const elsewhere = { nodeSelector: { "kubernetes.io/hostname": "outside" } };
      expect(await withPod(version, filters, (pod) => refused(plane, pod), elsewhere)).toContain(
        "1 node(s) didn't have a label that the policy requires",
      );
    });
  });
});
