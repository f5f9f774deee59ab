import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { BINDER_NEEDS } from "../../src/cli/doctor/access.ts";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { KubeObject } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, createGpuNodes, gpuPod, type RunningBinder, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { profiles, refused } from "./scheduling.ts";

const root = join(import.meta.dirname, "..", "..");
const configuration = {
  profiles: [{ name: "gpu", plugins: [{ name: "GpuMemory", weight: 1 }] }],
  callers: [{ name: "here", credentials: [{ certificate: "kube-scheduler" }], profiles: ["gpu"] }],
};

await e2e("berth doctor in a cluster", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  let config: string;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    await createGpuNodes(plane, ["one", "two"], { count: 2, each: 8 });
    binder = await startBinder(plane, { name: "binder", configuration });
    config = join(plane.folder, "scheduler.json");
    await configure({});
  });
  afterAll(() => plane?.stop());

  async function configure(more: object): Promise<void> {
    const kind = { apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration" };
    await writeFile(config, JSON.stringify({ ...kind, extenders: [{ ...allVerbs(binder, "gpu"), ...more }] }));
  }

  async function doctor() {
    const args = ["doctor", "--config", config, "--kubeconfig", await plane.kubeconfig("admin"), "--output", "json"];
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, "src/cli/berth.js"), ...args]).catch(
      (error: { stdout: string }) => error,
    );
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
    return (name: string) => findings.find(({ step }) => step === name);
  }

  it("finds a binder well that is: its rights, ledgers, informers, devices, and what its nodes cost", async () => {
    const step = await doctor();
    for (const name of ["TLS", "filter", "prioritize", "bind", "binder", "informers", "ledgers", "RBAC", "devices"]) {
      expect(step(name), name).toMatchObject({ status: "ok" });
    }
    expect(step("filter")?.what).toMatch(/^2 nodes, .*this cluster's nodes/);
    expect(step("events")).toMatchObject({ status: "ok" });
    expect(step("autoscaler")).toMatchObject({ status: "ok" });
  });

  it("names the rights that a binder's account lacks, and what grants them", async () => {
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "berth-binder" },
    };
    const whole = await plane.api.get<KubeObject>(role);
    const rules = (whole["rules"] as readonly { resources: string[] }[]).filter(
      ({ resources }) => !resources.includes("pods/binding"),
    );
    await plane.api.patch(role, { rules });
    const missing = await eventually("the rights are gone", async () => {
      const finding = (await doctor())("RBAC");
      return finding?.status === "failed" && finding;
    });
    expect(missing.what).toBe("system:serviceaccount:berth-system:berth-binder may not create pods/binding.");
    expect(missing.mend).toContain("rbac.yaml");
    await plane.api.patch(role, { rules: whole["rules"] });
  });

  it("knows exactly the rights that infra/ grants", async () => {
    const documents = parseAllDocuments(await readFile(join(root, "infra/binder/rbac.yaml"), "utf8"));
    const rules = documents.flatMap((document) => document.toJS().rules ?? []);
    const granted = rules.flatMap(
      ({ apiGroups, resources, verbs }: { apiGroups: string[]; resources: string[]; verbs: string[] }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${apiGroups[0]}/${resource}`)),
    );
    const needed = BINDER_NEEDS.flatMap(({ group, resource, subresource, verbs }) =>
      verbs.map((verb) => `${verb} ${group}/${resource}${subresource ? `/${subresource}` : ""}`),
    );
    expect(needed.sort()).toEqual(granted.sort());
  });

  it("says that pods are refused before any extender is asked when no node has the resource", async () => {
    await configure({ managedResources: [{ name: "example.com/gpu" }] });
    const step = await doctor();
    await configure({});
    expect(step("devices")).toMatchObject({
      status: "failed",
      what: expect.stringContaining("never asks the extender"),
    });
  });

  it("says what kube-scheduler met with extenders, and an autoscaler that asks none", async () => {
    const away = { ...allVerbs(binder, "gpu"), urlPrefix: "https://127.0.0.1:9/a-secret-of-the-path-4711/gpu" };
    const scheduler = await startScheduler(plane, {
      version: versions.at(-1) ?? "",
      config: { extenders: [away], profiles: profiles(["default-scheduler"]) },
    });
    await refused(plane, await plane.api.create(gpuPod("unlucky", 3)));
    await scheduler.stop();
    const { metadata, spec } = buildPod({ name: "autoscaler" });
    const labels = { app: "cluster-autoscaler" };
    await plane.api.create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "cluster-autoscaler", namespace: "kube-system" },
      spec: { selector: { matchLabels: labels }, template: { metadata: { ...metadata, labels }, spec } },
    } as unknown as KubeObject);
    const step = await doctor();
    expect(step("events")).toMatchObject({
      status: "warning",
      what: expect.stringContaining("at a closed port (1 pod)"),
    });
    expect(JSON.stringify(step("events"))).not.toContain("a-secret-of-the-path-4711");
    expect(step("autoscaler")).toMatchObject({ status: "warning", what: expect.stringMatching(/^Cluster Autoscaler/) });
  });
});
