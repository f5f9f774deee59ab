import { randomUUID } from "node:crypto";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { buildNode, createNodes } from "../controlplane/nodes.ts";
import type { KubeObject } from "../controlplane/objects.ts";
import { buildFullPod } from "../controlplane/pods.ts";
import { inParallel } from "./binder-targets.ts";

/** Nodes that are built one by one; the others are copies of them under other names. */
const KINDS_OF_NODES = 100;

/** Objects in one transaction of etcd, which takes 1.5 MiB. */
const AT_ONCE = 64;

/**
 * Fills a cluster with realistic nodes and pods bound to them in turn. The API server makes some of each; what it has
 * stored of them is copied within etcd under other names and UIDs, for fifty thousand creates would take longer than
 * what is measured afterwards.
 */
export async function fillCluster(
  plane: ControlPlane,
  { nodes, pods }: { readonly nodes: number; readonly pods: number },
): Promise<void> {
  const node = numbered("node-", nodes);
  const pod = numbered("checkout-", pods);
  const built = Array.from({ length: Math.min(nodes, KINDS_OF_NODES) }, (_, index) =>
    buildNode({ index, name: node(index) }),
  );
  const ownNodes = await createNodes(plane.api, built, { parallel: 24 });
  const ownPod = await plane.api.create(buildFullPod({ name: pod(0), nodeName: node(0), cpu: "500m" }));
  const nodeStamps = await inParallel(ownNodes, 8, (own) => stampOf(plane, "/registry/minions/", own));
  const podStamp = await stampOf(plane, "/registry/pods/default/", ownPod);
  await putAll(plane, range(built.length, nodes), (index) => nodeStamps[index % built.length]?.({ name: node(index) }));
  await putAll(plane, range(1, pods), (index) => podStamp({ name: pod(index), [node(0)]: node(index % nodes) }));
  await takenIn(plane, `/api/v1/namespaces/default/pods/${pod(pods - 1)}`);
}

/** Settles when the API server's own cache has caught up, so that it does not count what the copies take it. */
async function takenIn(plane: ControlPlane, lastPod: string): Promise<void> {
  const { metadata } = await plane.api.request<KubeObject>({ method: "GET", path: lastPod });
  // Not older than the last copy, and so from the cache: the API server waits three seconds for it, then answers 504.
  const query = { resourceVersion: metadata.resourceVersion, fieldSelector: `metadata.name=${metadata.name}` };
  const path = "/api/v1/namespaces/default/pods";
  await eventually("the API server knows the last pod", () => plane.api.request({ method: "GET", path, query }), {
    within: 600_000,
  });
}

/** Names of one length, so that one can stand where another stood. */
function numbered(prefix: string, count: number): (index: number) => string {
  const digits = String(count - 1).length;
  return (index) => `${prefix}${String(index).padStart(digits, "0")}`;
}

function* range(from: number, to: number): Generator<number> {
  for (let index = from; index < to; index++) yield index;
}

interface Stored {
  readonly key: string;
  readonly value: string;
}

/** Copies of a stored object: under another name, and with other texts replaced by ones of the same length. */
type Stamp = (changes: { readonly name: string; readonly [text: string]: string }) => Stored;

async function stampOf(plane: ControlPlane, folder: string, { metadata }: KubeObject): Promise<Stamp> {
  const { name: ownName, uid: ownUid = "" } = metadata;
  const answer = await askEtcd(plane, "range", { key: base64(`${folder}${ownName}`) });
  const { kvs } = answer as { readonly kvs: readonly Stored[] };
  // One character for each byte: what the API server stores is no text.
  const stored = Buffer.from(kvs[0]?.value ?? "", "base64").toString("latin1");
  return ({ name, ...changes }) => {
    const replaced = Object.entries({ ...changes, [ownName]: name, [ownUid]: randomUUID() });
    const value = replaced.reduce((text, [from, to]) => text.replaceAll(from, to), stored);
    return { key: base64(`${folder}${name}`), value: Buffer.from(value, "latin1").toString("base64") };
  };
}

async function putAll(
  plane: ControlPlane,
  indices: Iterable<number>,
  copy: (index: number) => Stored | undefined,
): Promise<void> {
  const all = [...indices];
  const starts = [...range(0, Math.ceil(all.length / AT_ONCE))];
  await inParallel(starts, 4, async (start) => {
    const part = all.slice(start * AT_ONCE, (start + 1) * AT_ONCE);
    await askEtcd(plane, "txn", { success: part.map((index) => ({ requestPut: copy(index) })) });
  });
}

/** Over etcd's gateway for JSON (etcd 3.6, api/v3). */
async function askEtcd({ etcdUrl }: ControlPlane, what: "range" | "txn", body: object): Promise<unknown> {
  const answer = await fetch(`${etcdUrl}/v3/kv/${what}`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status} ${await answer.text()}`);
  return answer.json();
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
