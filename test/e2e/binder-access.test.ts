import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { writeLedger } from "../../src/placement/ledger.ts";
import { placedNode } from "../../src/placement/placed.ts";
import { type Api, ApiError, connectApi } from "../controlplane/api.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type KubeObject, type Node, nodeRef, type Pod } from "../controlplane/objects.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { ACCOUNT, allVerbs, applyInfra, createGpuNodes, gpuPod, NAMESPACE, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { placed, profiles } from "./scheduling.ts";

const USER = `system:serviceaccount:${NAMESPACE}:${ACCOUNT}`;
const rbacFile = new URL("../../infra/binder/rbac.yaml", import.meta.url);

/** Everything that infra/ lets the binder do, as `<verb> <resource>`. */
async function granted(): Promise<string[]> {
  const documents = parseAllDocuments(await readFile(rbacFile, "utf8")).map((document) => document.toJS());
  const rules = documents.flatMap(({ rules }) => rules ?? []);
  const pairs = rules.flatMap(({ resources, verbs }: { resources: string[]; verbs: string[] }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  return [...new Set<string>(pairs)].sort();
}

await e2e("what the binder may do", (versions) => {
  let plane: ControlPlane;
  let auditLog: string;
  let asBinder: Api;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-audit-"));
    auditLog = join(folder, "audit.log");
    const policyFile = join(folder, "policy.yaml");
    const rules = [{ level: "Metadata", users: [USER], omitStages: ["RequestReceived"] }, { level: "None" }];
    await writeFile(policyFile, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
    // Without watch lists, as older servers are, so that lists are asked for too.
    const flags = [
      `--audit-policy-file=${policyFile}`,
      `--audit-log-path=${auditLog}`,
      "--feature-gates=WatchList=false",
    ];
    plane = await startControlPlane({ flags });
    await applyInfra(plane);
    const kubeconfig = parse(await readFile(await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT), "utf8"));
    asBinder = connectApi({ url: plane.url, caPem: plane.caPem, token: kubeconfig.users[0].user.token });
  });
  afterAll(async () => {
    asBinder?.close();
    await plane?.stop();
    await rm(dirname(auditLog), { recursive: true });
  });

  /** What the binder has asked the API server, allowed or not, as `<verb> <resource>`. */
  const asked = async (): Promise<string[]> => {
    const lines = (await readFile(auditLog, "utf8")).split("\n").filter((line) => line.endsWith("}"));
    const pairs = lines.map((line) => {
      const { verb, objectRef, userAgent } = JSON.parse(line);
      const { resource, subresource } = objectRef ?? {};
      return resource && !userAgent.startsWith("node")
        ? `${verb} ${resource}${subresource ? `/${subresource}` : ""}`
        : "";
    });
    return [...new Set(pairs.filter((pair) => pair !== ""))].sort();
  };

  it("is what it does, each verb of each rule and nothing beside", async () => {
    await createGpuNodes(plane, ["fresh"], { count: 1, each: 10, fresh: true });
    await createGpuNodes(plane, ["one"], { count: 2, each: 10 });
    const [first, second] = [await leftover("left-1", "0"), await leftover("left-2", "1")];
    await promise(first, second);
    const binder = await startBinder(plane, { name: "binder", open: true, env: { BERTH_GRACE_SECONDS: "2" } });
    const config = {
      extenders: [allVerbs(binder, "gpushare-scheduler")],
      profiles: profiles(["default-scheduler"], { preemption: false }),
    };
    const scheduler = await startScheduler(plane, { version: versions.at(-1) ?? "", config });
    const onOne = { spec: { nodeSelector: { "kubernetes.io/hostname": "one" } } };
    // Both devices are promised to pods that nobody binds: taken back after the grace time, which wakes this pod.
    const waiting = await plane.api.create(gpuPod("waiting", 9, onOne));
    await placed(plane, waiting);
    await plane.api.create(gpuPod("again", 11, onOne));
    for (let times = 0; times < 2; times++) await refusedBind(binder.url);
    await eventually(
      "the binder has asked for all that it may do",
      async (saw) => {
        const now = await asked();
        saw(now);
        return (await granted()).every((pair) => now.includes(pair));
      },
      { within: 60_000, every: 500 },
    );
    await binder.stop();
    await scheduler.stop();
    expect(await asked()).toEqual(await granted());
  });

  async function leftover(name: string, device: string) {
    const pod = await plane.api.create(gpuPod(name, 8, { schedulerName: "nobody" }));
    return { pod, device };
  }

  async function promise(...promises: readonly { readonly pod: Pod; readonly device: string }[]): Promise<void> {
    const ref = { apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger", metadata: { name: "one" } };
    const [stored, object] = await Promise.all([plane.api.get<KubeObject>(ref), plane.api.get<Node>(nodeRef("one"))]);
    const node = placedNode(object, new Set());
    const claims = promises.map(({ pod, device }, index) => ({
      id: `left-${index}`,
      podUid: pod.metadata.uid ?? "",
      namespace: "default",
      podName: pod.metadata.name,
      device,
      amount: 8n,
      assumeTime: BigInt(index + 1),
      claimedAt: Date.now(),
    }));
    const ledger = { nodeName: node.name, nodeUid: node.uid, resourceVersion: stored.metadata.resourceVersion ?? "" };
    await plane.api.replace(
      writeLedger({ ...ledger, epoch: "test", closedUntil: 0, lastAssumeTime: 2n, claims }, node) as KubeObject,
    );
  }

  /** The same refusal twice is one event with a count. */
  async function refusedBind(url: string): Promise<void> {
    const pod = await plane.api.get<Pod>(gpuPod("again", 11));
    const answer = await fetch(`${url}/gpushare-scheduler/bind`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ PodName: "again", PodNamespace: "default", PodUID: pod.metadata.uid, Node: "one" }),
    });
    expect(await answer.json()).toMatchObject({ Error: expect.stringContaining("no healthy GPU as large as the 11") });
  }

  describe("to nodes, by the ValidatingAdmissionPolicy", () => {
    const patched = async (patch: object, options: Parameters<Api["patch"]>[2] = {}): Promise<string> => {
      try {
        await asBinder.patch(nodeRef("one"), patch, options);
        return "allowed";
      } catch (error) {
        return error instanceof ApiError ? `${error.status} ${error.message}` : String(error);
      }
    };

    it("is to touch annotations of its own", async () => {
      expect(await patched({ metadata: { annotations: { "berth.dev/wake": "now" } } })).toBe("allowed");
      expect(await patched({ metadata: { annotations: { "berth.dev/wake": null } } })).toBe("allowed");
    });

    it.each([
      ["cordon them", { spec: { unschedulable: true } }],
      ["taint them", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }],
      ["label them", { metadata: { labels: { "berth.dev/mine": "yes" } } }],
      ["annotate them otherwise", { metadata: { annotations: { "example.com/other": "yes" } } }],
      ["take an annotation of others away", { metadata: { annotations: { "test/kept": null } } }],
      ["add a finalizer", { metadata: { finalizers: ["example.com/never"] } }],
    ])("is not to %s", async (_, patch) => {
      await plane.api.patch(nodeRef("one"), { metadata: { annotations: { "test/kept": "yes" } } });
      expect(await patched(patch)).toMatch(/^422 .*The binder may (not )?change/);
    });

    const condition = (type: string) => ({ status: { conditions: [{ type, status: "False", message: "by a test" }] } });
    const status = { subresource: "status", type: "strategic" } as const;

    it("is to write its own condition", async () => {
      expect(await patched(condition("BerthPublished"), status)).toBe("allowed");
    });

    it.each([
      ["write other conditions", condition("Ready")],
      ["change their capacity", { status: { capacity: { "aliyun.com/gpu-mem": "1000" } } }],
      ["label them on the way", { metadata: { labels: { "berth.dev/mine": "yes" } } }],
    ])("is not to %s in their status", async (_, patch) => {
      expect(await patched(patch, status)).toMatch(/^422 .*The binder may (not )?change/);
    });
  });
});
