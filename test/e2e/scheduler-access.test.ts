import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { writeLedger } from "../../src/placement/ledger.ts";
import { placedNode } from "../../src/placement/placed.ts";
import { ApiError, connectApi } from "../controlplane/api.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type KubeObject, type Node, nodeRef, type Pod } from "../controlplane/objects.ts";
import { createGpuNodes, gpuPod } from "./binder.ts";
import { e2e } from "./gate.ts";
import { interpose, isBinding } from "./interposer.ts";
import { ACCOUNT, applyScheduler, NAMESPACE, SCHEDULER, startBerth, told } from "./scheduler.ts";
import { placed } from "./scheduling.ts";

const USER = `system:serviceaccount:${NAMESPACE}:${ACCOUNT}`;

/** Everything that infra/ lets the scheduler do, as `<verb> <resource>`. */
async function granted(): Promise<string[]> {
  const texts = ["rbac", "devices"].map((name) =>
    readFile(new URL(`../../infra/scheduler/${name}.yaml`, import.meta.url), "utf8"),
  );
  const documents = (await Promise.all(texts)).flatMap((text) =>
    parseAllDocuments(text).map((document) => document.toJS()),
  );
  const rules = documents.flatMap(({ rules }) => rules ?? []);
  const pairs = rules.flatMap(({ resources, verbs }: { resources: string[]; verbs: string[] }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  return [...new Set<string>(pairs)].sort();
}

await e2e("what berth schedule may do", () => {
  let plane: ControlPlane;
  let auditLog: string;
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
    await applyScheduler(plane);
  });
  afterAll(async () => {
    await plane?.stop();
    await rm(dirname(auditLog), { recursive: true });
  });

  /** What the scheduler has asked the API server, allowed or not, as `<verb> <resource>`. */
  const asked = async (): Promise<string[]> => {
    const lines = (await readFile(auditLog, "utf8")).split("\n").filter((line) => line.endsWith("}"));
    const pairs = lines.map((line) => {
      const { verb, objectRef } = JSON.parse(line);
      const { resource, subresource } = objectRef ?? {};
      return resource ? `${verb} ${resource}${subresource ? `/${subresource}` : ""}` : "";
    });
    return [...new Set(pairs.filter((pair) => pair !== ""))].sort();
  };

  /** A promise, made long ago, to a pod that nobody binds. */
  const promise = async (pod: Pod): Promise<void> => {
    const ref = { apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger", metadata: { name: "one" } };
    const [stored, object] = await Promise.all([plane.api.get<KubeObject>(ref), plane.api.get<Node>(nodeRef("one"))]);
    const node = placedNode(object, new Set());
    const claim = {
      ...{ id: "left", podUid: pod.metadata.uid ?? "", namespace: "default", podName: pod.metadata.name },
      ...{ device: "0", amount: 8n, assumeTime: 1n, claimedAt: 0 },
    };
    const ledger = { nodeName: node.name, nodeUid: node.uid, resourceVersion: stored.metadata.resourceVersion ?? "" };
    const rest = { epoch: "test", closedUntil: 0, lastAssumeTime: 1n, claims: [claim] };
    await plane.api.replace(writeLedger({ ...ledger, ...rest }, node) as KubeObject);
  };

  it("is what it does, each verb of each rule and nothing beside", async () => {
    await createGpuNodes(plane, ["fresh"], { count: 1, each: 10, fresh: true });
    await createGpuNodes(plane, ["one"], { count: 2, each: 10 });
    await promise(await plane.api.create(gpuPod("left", 8, { schedulerName: "nobody" })));
    const interposer = await interpose(plane, "via", await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT));
    // The answer to the first Binding is lost: the pod has to be read.
    let lost = 0;
    interposer.after = (answered) => {
      if (!isBinding(answered) || lost > 0) return undefined;
      lost += 1;
      return new Promise(() => undefined);
    };
    const scheduler = await startBerth(plane, { name: "scheduler", kubeconfig: interposer.kubeconfig });
    const pod = await plane.api.create(gpuPod("given", 9, { schedulerName: SCHEDULER }));
    await placed(plane, pod);
    await told(
      plane,
      await plane.api.create(gpuPod("too-large", 11, { schedulerName: SCHEDULER })),
      "FailedScheduling",
    );
    await eventually(
      "the scheduler has asked for all that it may do",
      async (saw) => {
        const now = await asked();
        const missing = (await granted()).filter((pair) => !now.includes(pair));
        saw(missing);
        return missing.length === 0;
      },
      { within: 90_000, every: 500 },
    );
    await scheduler.stop();
    expect(await asked()).toEqual(await granted());
  }, 150_000);

  it("is not to change nodes, to delete pods or to read Secrets", async () => {
    const kubeconfig = parse(await readFile(await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT), "utf8"));
    const own = connectApi({ url: plane.url, caPem: plane.caPem, token: kubeconfig.users[0].user.token });
    const statusOf = (call: Promise<unknown>) =>
      call.then(
        () => 200,
        (error: unknown) => (error instanceof ApiError ? error.status : 0),
      );
    const attempts = [
      own.patch(nodeRef("one"), { spec: { unschedulable: true } }),
      own.remove(gpuPod("given", 9)),
      own.list({ apiVersion: "v1", kind: "Secret", namespace: "default" }),
    ];
    expect(await Promise.all(attempts.map(statusOf))).toEqual([403, 403, 403]);
    own.close();
  });
});
