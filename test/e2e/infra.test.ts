import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Listener } from "../../src/adapters/listener.ts";
import { serveOnNode } from "../../src/adapters/node.ts";
import { readSettings } from "../../src/adapters/node-settings.ts";
import { type CertificateSet, DEFAULT_NAMES, makeCertificates } from "../../src/cli/certs/folder.ts";
import { DEFAULT_SECRETS, secretManifests } from "../../src/cli/certs/secrets.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { controlPlanePrograms } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { buildRelease } from "../release/build.ts";
import { createGpuNodes, deviceOf, gpuPod, NAMESPACE } from "./binder.ts";
import { gated } from "./gate.ts";
import { applyKustomization, kubectl, kustomizations, kustomize } from "./kubectl.ts";
import { type RunningPod, runPod } from "./kubelet.ts";
import { placed, profiles } from "./scheduling.ts";

const VERSION = "1.37.2";
const infra = join(import.meta.dirname, "..", "..", "infra");
const all = await kustomizations();

await gated("the manifests", controlPlanePrograms([VERSION]), () => {
  let plane: ControlPlane;
  let certificates: CertificateSet;
  beforeAll(async () => {
    plane = await startControlPlane();
    await plane.api.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
    certificates = await makeCertificates(join(plane.folder, "certs"), { names: DEFAULT_NAMES });
    const secrets = join(plane.folder, "secrets.yaml");
    for (const server of ["berth-binder-tls", "berth-function-tls"]) {
      await writeFile(secrets, secretManifests(certificates, { ...DEFAULT_SECRETS, server }));
      expect(await kubectl(plane, ["apply", "-f", secrets])).toMatchObject({ code: 0, stderr: "" });
    }
  });
  afterAll(() => plane?.stop());

  it.each(all)("of %s pass the API server's checks without a warning", async (folder) => {
    const objects = await kustomize(folder);
    const lines = await applyKustomization(plane, folder, { dryRun: true });
    expect(lines).toHaveLength(objects.length);
    for (const line of lines) expect(line).toMatch(/ serverside-applied \(server dry run\)$/);
  });

  it("ask for a warning to be seen: a field that does not exist stops them", async () => {
    const made = await mkdtemp(join(plane.folder, "faulty-"));
    await writeFile(join(made, "pdb.yaml"), JSON.stringify({ ...budget, spec: { ...budget.spec, maxUnavailible: 1 } }));
    await writeFile(join(made, "kustomization.yaml"), "resources: [pdb.yaml]\n");
    await expect(applyKustomization(plane, made, { dryRun: true })).rejects.toThrow(/maxUnavailible/);
  });

  it("can be watched by the Prometheus Operator", async () => {
    const made = await mkdtemp(join(plane.folder, "monitored-"));
    const component = relative(made, join(infra, "components/service-monitor"));
    const base = relative(made, join(infra, "binder"));
    await writeFile(
      join(made, "kustomization.yaml"),
      JSON.stringify({
        apiVersion: "kustomize.config.k8s.io/v1beta1",
        kind: "Kustomization",
        resources: [base],
        components: [component],
      }),
    );
    const objects = await kustomize(made);
    const spec = (of: string) => objects.find(({ kind }) => kind === of)?.["spec"];
    const service = objects.find(({ kind }) => kind === "Service");
    expect(spec("ServiceMonitor")).toMatchObject({
      selector: { matchLabels: service?.metadata.labels },
      endpoints: [{ port: "https", scheme: "https" }],
    });
    expect(spec("Service")).toMatchObject({ ports: [{ name: "https" }] });
  });

  describe("of overlays/dev", () => {
    let binder: RunningPod;
    let scheduler: RunningPod;
    beforeAll(async () => {
      await applyKustomization(plane, "overlays/dev");
      binder = await runPod(plane, { namespace: NAMESPACE, name: "berth-binder" });
      const hosts = { "berth-binder.berth-system.svc": binder.url("https") };
      scheduler = await runPod(plane, { namespace: NAMESPACE, name: "berth-scheduler" }, { hosts });
      await createGpuNodes(plane, ["gpu-node"], { count: 2, each: 8 });
    });
    afterAll(async () => {
      await scheduler?.stop();
      await binder?.stop();
    });

    it("start a binder and a second scheduler, which together give a pod its device", async () => {
      const pod = await plane.api.create(gpuPod("dev", 5, { schedulerName: "berth" }));
      expect(await placed(plane, pod)).toBe("gpu-node");
      expect(deviceOf(await plane.api.get<Pod>(pod))).toMatchObject({ index: "0", amount: "5" });
    });

    it("have the second scheduler place pods without GPU memory too", async () => {
      const pod = await plane.api.create(buildPod({ name: "plain", cpu: "1", schedulerName: "berth" }));
      expect(await placed(plane, pod)).toBe("gpu-node");
    });

    it("have each program keep a Lease of its own name", async () => {
      const leases = await plane.api.list({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        namespace: NAMESPACE,
      });
      expect(leases.map(({ metadata }) => metadata.name).sort()).toEqual(["berth-binder", "berth-scheduler"]);
    });

    it("put the binder's requests before those of other service accounts", async () => {
      const kubeconfig = parse(
        await await readFile(await plane.serviceAccountKubeconfig(NAMESPACE, "berth-binder"), "utf8"),
      );
      const { headers } = await request(`${plane.url}/api/v1/pods?limit=1`, {
        headers: { Authorization: `Bearer ${kubeconfig.users[0].user.token}` },
        dispatcher: new Agent({ connect: { ca: plane.caPem } }),
      });
      const schema = await plane.api.get<KubeObject>({
        apiVersion: "flowcontrol.apiserver.k8s.io/v1",
        kind: "FlowSchema",
        metadata: { name: "berth-binder" },
      });
      expect(headers["x-kubernetes-pf-flowschema-uid"]).toBe(schema.metadata.uid);
    });
  });

  describe("of overlays/function", () => {
    it("start a function that answers a caller's client certificate and nobody else", async () => {
      await applyKustomization(plane, "overlays/function");
      const pod = await runPod(plane, { namespace: NAMESPACE, name: "berth-function" });
      const { client, trusted } = certificates;
      const ask = async (identity: JsonObject) => {
        const dispatcher = new Agent({ connect: { ca: trusted, ...identity } });
        const { statusCode } = await request(`${pod.url("https")}/gpu`, { dispatcher });
        return statusCode;
      };
      expect(await ask({ cert: client.certificate, key: client.key })).toBe(200);
      expect(await ask({})).toBe(401);
      await pod.stop();
    });
  });

  describe("of overlays/workers", () => {
    it("start a binder that is ready once it has the policy of the function", async () => {
      const token = "the-bearer-token-of-this-test";
      const running = await startFunction(plane, certificates, token);
      await applyKustomization(plane, "overlays/workers");
      const metadata = { name: "berth-function-token", namespace: NAMESPACE };
      await plane.api.create({ apiVersion: "v1", kind: "Secret", metadata, stringData: { token } });
      // The function of this test has a certificate of its own authority, which the binder's own Secret happens to hold.
      const env = [{ name: "BERTH_FUNCTION_CA", value: "/tls/ca.crt" }];
      const containers = [{ name: "binder", env }];
      const ref = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "berth-binder", namespace: NAMESPACE },
      };
      await plane.api.patch(ref, { spec: { template: { spec: { containers } } } }, { type: "strategic" });
      const hosts = { "berth.example.workers.dev": running.url };
      const pod = await runPod(plane, { namespace: NAMESPACE, name: "berth-binder" }, { hosts });
      const { policies } = JSON.parse((await pod.get("/readyz")).text);
      expect(policies).toContainEqual(expect.objectContaining({ profile: "default", version: expect.any(String) }));
      await pod.stop();
      await running.stop();
    });
  });

  describe("of overlays/gpushare", () => {
    it("start, from the release bundle, what stands at the address of gpushare's extender", async () => {
      await applyKustomization(plane, "overlays/gpushare");
      await buildRelease(join(plane.folder, "release"));
      const program = join(plane.folder, "release/berth.mjs");
      const pod = await runPod(plane, { kind: "DaemonSet", namespace: NAMESPACE, name: "berth-binder" }, { program });
      const entry = {
        urlPrefix: `${pod.url("http")}/gpushare-scheduler`,
        filterVerb: "filter",
        bindVerb: "bind",
        nodeCacheCapable: true,
        managedResources: [{ name: "aliyun.com/gpu-mem", ignoredByScheduler: false }],
      };
      const config = { extenders: [entry], profiles: profiles(["default-scheduler"], { preemption: false }) };
      const scheduler = await startScheduler(plane, { version: VERSION, config });
      const bound = await plane.api.create(gpuPod("dropped-in", 3));
      await placed(plane, bound);
      expect(deviceOf(await plane.api.get<Pod>(bound))).toMatchObject({ amount: "3", assigned: "false" });
      await scheduler.stop();
      await pod.stop();
    });
  });

  describe("of samples/scheduler-name", () => {
    const dryRun = async (name: string, namespace: string, more: JsonObject = {}): Promise<unknown> => {
      const pod = buildPod({ name, namespace, cpu: "1", ...more });
      const path = `/api/v1/namespaces/${namespace}/pods`;
      const made = await plane.api.request<Pod>({ method: "POST", path, body: pod, query: { dryRun: "All" } });
      return made.spec["schedulerName"];
    };

    it("give pods of chosen namespaces the second scheduler, but for those that chose one", async () => {
      await applyKustomization(plane, "samples/scheduler-name");
      const labels = { "berth.dev/scheduler": "berth" };
      await plane.api.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "chosen", labels } });
      await eventually("the policy is in force", async () => (await dryRun("a", "chosen")) === "berth");
      expect(await dryRun("a", "default")).toBe("default-scheduler");
      expect(await dryRun("a", "chosen", { schedulerName: "other" })).toBe("other");
      expect(await dryRun("a", "chosen", { nodeName: "gpu-node" })).toBe("default-scheduler");
    });
  });
});

/** A function with a caller that has this bearer token. */
async function startFunction(plane: ControlPlane, { files }: CertificateSet, token: string): Promise<Listener> {
  const file = (name: string) => join(plane.folder, `function-${name}`);
  const kind = (of: string) => ({ apiVersion: "berth.dev/v1alpha1", kind: of });
  const callers = [{ name: "here", credentials: [{ bearer: "TOKEN" }], profiles: ["default"] }];
  const profiles = [{ name: "default", plugins: [] }];
  await writeFile(file("berth.yaml"), JSON.stringify({ ...kind("PolicyConfiguration"), profiles, callers }));
  await writeFile(file("facts.json"), JSON.stringify(kind("FleetFacts")));
  const settings = readSettings({
    BERTH_LISTEN: "127.0.0.1:0",
    BERTH_CONFIG: file("berth.yaml"),
    BERTH_FACTS: file("facts.json"),
    BERTH_TLS_CERT: files.server.certificate,
    BERTH_TLS_KEY: files.server.key,
    TOKEN: token,
  });
  return serveOnNode(settings, () => undefined);
}

const budget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "faulty", namespace: NAMESPACE },
  spec: { maxUnavailable: 1, selector: { matchLabels: { a: "b" } } },
};
