import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { writeLedger } from "../../src/placement/ledger.ts";
import { placedNode } from "../../src/placement/placed.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { buildNode, createNodes } from "../controlplane/nodes.ts";
import type { KubeObject, Node, Pod } from "../controlplane/objects.ts";
import { buildPod, type PodOptions } from "../controlplane/pods.ts";
import { freePort } from "../controlplane/ports.ts";
import { type RunningProcess, startProcess, waitUntilUp } from "../controlplane/process.ts";
import { fetchText } from "../controlplane/transport.ts";

const root = join(import.meta.dirname, "..", "..");

/** The names that infra/ gives. */
export const NAMESPACE = "berth-system";
export const ACCOUNT = "berth-binder";

/** Creates what `kubectl apply -k infra/binder` would, with changes to it if the test says so. */
export async function applyInfra(
  { api }: ControlPlane,
  change: (object: KubeObject) => KubeObject = (object) => object,
): Promise<void> {
  const files = ["crd/nodeledgers", "binder/namespace", "binder/deployment", "binder/rbac", "binder/admission"];
  for (const file of files) {
    const text = await readFile(join(root, "infra", `${file}.yaml`), "utf8");
    for (const document of parseAllDocuments(text)) {
      const object = change(document.toJS() as KubeObject);
      if ((await api.find(object)) === undefined) await api.create(object);
    }
  }
  await eventually("ledgers are served", () =>
    api.list({ apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger" }).then(() => true),
  );
}

/** A binder in a process of its own. */
export interface RunningBinder {
  readonly url: string;
  /** For an extender's `tlsConfig`: the authority, and the client certificate of kube-scheduler. */
  readonly tlsConfig: JsonObject;
  readonly process: RunningProcess;
  logs(): string;
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
  stop(): Promise<void>;
}

/** How a binder is started. */
export interface BinderStart {
  readonly name: string;
  /** berth.yaml without apiVersion and kind; absent: the built-in profile only. */
  readonly configuration?: JsonObject;
  /** True: plain HTTP and open on this machine, as in place of gpushare's extender. */
  readonly open?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** The `berth` program; default: this release's. */
  readonly program?: string;
  /** Milliseconds until it has to be ready. Default 60,000. */
  readonly within?: number;
  /** Where another one has listened before; default: a free one. */
  readonly port?: number;
}

/** Starts a binder under its own service account and waits until it is ready. */
export async function startBinder(plane: ControlPlane, start: BinderStart): Promise<RunningBinder> {
  const port = start.port ?? (await freePort());
  const file = (suffix: string) => join(plane.folder, `${start.name}.${suffix}`);
  const [server, client] = await Promise.all([
    plane.authority.issue({ name: start.name }),
    plane.authority.issue({ name: "kube-scheduler" }),
  ]);
  const document = (kind: string, more?: JsonObject) =>
    JSON.stringify({ apiVersion: "berth.dev/v1alpha1", kind, ...more });
  await writeFile(file("crt"), server.certPem);
  await writeFile(file("key"), server.keyPem, { mode: 0o600 });
  await writeFile(file("ca"), plane.caPem);
  await writeFile(file("yaml"), document("PolicyConfiguration", start.configuration));
  await writeFile(file("json"), document("FleetFacts"));
  const running = startProcess({
    name: start.name,
    folder: plane.folder,
    command: process.execPath,
    args: [start.program ?? join(root, "src/cli/berth.js"), "binder"],
    env: {
      BERTH_LISTEN: `127.0.0.1:${port}`,
      BERTH_KUBECONFIG: await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT),
      BERTH_LEASE_NAMESPACE: NAMESPACE,
      ...(start.configuration && { BERTH_CONFIG: file("yaml"), BERTH_FACTS: file("json") }),
      ...(start.open
        ? { BERTH_OPEN: "loopback" }
        : { BERTH_TLS_CERT: file("crt"), BERTH_TLS_KEY: file("key"), BERTH_CLIENT_CA: file("ca") }),
      ...start.env,
    },
  });
  plane.onStop(() => running.stop());
  const url = `http${start.open ? "" : "s"}://127.0.0.1:${port}`;
  const get = (path: string) => fetchText({ url, caPem: plane.caPem }, path);
  await waitUntilUp(running, async () => (await get("/readyz")).status === 200, start.within);
  const base64 = (pem: string) => Buffer.from(pem).toString("base64");
  return {
    url,
    tlsConfig: { caData: base64(plane.caPem), certData: base64(client.certPem), keyData: base64(client.keyPem) },
    process: running,
    logs: running.logs,
    get,
    stop: () => running.stop(),
  };
}

/** An entry with all verbs, by names, for pods that ask for GPU memory. */
export function allVerbs({ url, tlsConfig }: RunningBinder, profile: string): JsonObject {
  const secure = url.startsWith("https:") ? { enableHTTPS: true, tlsConfig } : {};
  return {
    urlPrefix: `${url}/${profile}`,
    ...secure,
    filterVerb: "filter",
    prioritizeVerb: "prioritize",
    preemptVerb: "preempt",
    bindVerb: "bind",
    weight: 1,
    nodeCacheCapable: true,
    managedResources: [{ name: "aliyun.com/gpu-mem", ignoredByScheduler: false }],
  };
}

/** Creates nodes of so many GPUs with so much memory each; unless `fresh`, their ledgers are open already. */
export async function createGpuNodes(
  { api }: ControlPlane,
  names: readonly string[],
  { count, each, fresh = false }: { readonly count: number; readonly each: number; readonly fresh?: boolean },
): Promise<Node[]> {
  const amounts = {
    cpu: "64",
    memory: "256Gi",
    pods: "110",
    "aliyun.com/gpu-mem": String(count * each),
    "aliyun.com/gpu-count": String(count),
  };
  const nodes = names.map((name) => buildNode({ name, allocatable: amounts, capacity: amounts, images: 2 }));
  // Before the nodes: a binder makes the ledger of a node that has none as soon as it sees it.
  if (!fresh) for (const node of nodes) await api.create(ledgerOf(node));
  return createNodes(api, nodes);
}

function ledgerOf(object: Node): KubeObject {
  const node = placedNode(object, new Set());
  const { name: nodeName, uid: nodeUid } = node;
  const nothing = { resourceVersion: "", epoch: "test", closedUntil: 0, lastAssumeTime: 0n, claims: [] };
  return writeLedger({ nodeName, nodeUid, ...nothing }, node) as KubeObject;
}

/** A pod that asks for GPU memory. */
export function gpuPod(name: string, amount: number, more: Partial<PodOptions> = {}): Pod {
  return buildPod({ cpu: "100m", limits: { "aliyun.com/gpu-mem": String(amount) }, ...more, name });
}

/** What a pod's annotations say of its device. */
export function deviceOf({ metadata }: Pod) {
  const read = (key: string) => metadata.annotations?.[`ALIYUN_COM_GPU_MEM_${key}`];
  return {
    index: read("IDX"),
    amount: read("POD"),
    device: read("DEV"),
    assigned: read("ASSIGNED"),
    assumeTime: BigInt(read("ASSUME_TIME") ?? 0),
  };
}
