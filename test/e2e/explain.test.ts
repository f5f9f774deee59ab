import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explain/explanation.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, createGpuNodes, gpuPod, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { placed, profiles } from "./scheduling.ts";

const root = join(import.meta.dirname, "..", "..");
const on = (node: string) => ({ spec: { nodeSelector: { "kubernetes.io/hostname": node } } });
const plugins = [{ name: "GpuMemory", weight: 1 }];

await e2e("berth explain in a cluster", (versions) => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    await createGpuNodes(plane, ["big"], { count: 2, each: 16 });
    await createGpuNodes(plane, ["small"], { count: 2, each: 8 });
    await createGpuNodes(plane, ["new"], { count: 2, each: 16, fresh: true });
    const document = {
      apiVersion: "berth.dev/v1alpha1",
      kind: "PolicyConfiguration",
      profiles: [{ name: "gpu", plugins }],
    };
    await writeFile(join(plane.folder, "berth.yaml"), JSON.stringify(document));
    await writeFile(join(plane.folder, "facts.json"), '{"apiVersion":"berth.dev/v1alpha1","kind":"FleetFacts"}');
    const binder = await startBinder(plane, { name: "binder", open: true });
    await startScheduler(plane, {
      version: versions.at(-1) ?? "",
      config: {
        extenders: [allVerbs(binder, "gpushare-scheduler")],
        profiles: profiles(["default-scheduler"], { preemption: false }),
      },
    });
    await placed(plane, await plane.api.create(gpuPod("train", 12, on("big"))));
    await placed(plane, await plane.api.create(gpuPod("serve", 6, on("small"))));
    const ledger = { apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger", metadata: { name: "new" } };
    await eventually("the new node has a ledger", () => plane.api.find(ledger));
  });
  afterAll(() => plane?.stop());

  async function explain(...args: string[]): Promise<string> {
    const files = ["--config", join(plane.folder, "berth.yaml"), "--facts", join(plane.folder, "facts.json")];
    const kubeconfig = ["--kubeconfig", await plane.kubeconfig("admin")];
    const all = ["explain", ...args, ...(args[0] === "pod" ? files : []), ...kubeconfig];
    return (await promisify(execFile)(process.execPath, [join(root, "src/cli/berth.js"), ...all])).stdout;
  }

  it("judges a pod by the devices that others hold now, and says as of when", async () => {
    await plane.api.create(gpuPod("waiting", 10, { schedulerName: "nobody" }));
    const told: Explanation = JSON.parse(await explain("pod", "default/waiting", "--output", "json"));
    expect(told.source).toMatch(/^as of \d{4}-\d\d-\d\dT.*, in the cluster https:/);
    const verdicts = Object.fromEntries(told.nodes.map(({ node, verdict }) => [node, verdict]));
    expect(verdicts).toEqual({ big: "kept", small: "refused", new: "refused" });
    const reasons = Object.fromEntries(told.nodes.map(({ node, reasons: [first] }) => [node, first]));
    expect(reasons["small"]).toMatchObject({ plugin: "GpuMemory", unresolvable: true });
    expect(reasons["new"]).toMatchObject({ plugin: "Binder", reason: expect.stringContaining("made anew") });
    const devices = told.nodes.find(({ node }) => node === "big")?.plugins[0]?.facts;
    expect(JSON.stringify(devices)).toContain('"used":"12"');
  });

  it("judges a pod that is bound as if it were not, and says where it is", async () => {
    const told: Explanation = JSON.parse(await explain("pod", "default/train", "--output", "json"));
    expect(told.boundTo).toBe("big");
    const devices = told.nodes.find(({ node }) => node === "big")?.plugins[0]?.facts;
    expect(JSON.stringify(devices)).not.toContain('"used":"12"');
    expect(await explain("pod", "train")).toContain("it is on big already and judged as if it were not");
  });

  it("shows who holds the memory of each GPU", async () => {
    const told = await explain("nodes");
    expect(told).toMatch(/^big {2}\S+ 12\/32 \(38 %\)$/m);
    expect(told).toMatch(/^ {4} {4}12 {2}default\/train$/m);
    expect(told).toMatch(/^all {2}18\/80 \(23 %\)$/m);
    const { nodes } = JSON.parse(await explain("nodes", "--output", "json"));
    expect(nodes).toHaveLength(3);
  });

  it("says that a pod is not there", async () => {
    await expect(explain("pod", "default/nobody")).rejects.toMatchObject({
      stderr: "there is no pod default/nobody\n",
    });
  });
});
