import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";
import { claimsIn, type StoredLedger } from "./bind-calls.ts";
import { deviceOf, gpuPod, type RunningBinder } from "./binder.ts";

/** Names the ledger of a node. */
export function ledgerRef(node: string): KubeObject {
  return { apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger", metadata: { name: node } };
}

/** The pods that a node's ledger holds devices for. */
export async function promisedOn({ api }: ControlPlane, node: string): Promise<string[]> {
  const ledger = await api.find<StoredLedger>(ledgerRef(node) as StoredLedger);
  return (ledger ? claimsIn(ledger) : []).map(({ podName }) => podName).sort();
}

/** Creates a pod that no scheduler looks after: the test asks the binder for it, as kube-scheduler would. */
export function orphan({ api }: ControlPlane, name: string, amount: number): Promise<Pod> {
  return api.create(gpuPod(name, amount, { schedulerName: "nobody" }));
}

/** Asks a binder that is open on this machine; gives why the pod was not bound, or nothing. */
export async function bind(binder: Pick<RunningBinder, "url">, { metadata }: Pod, node: string): Promise<string> {
  const { namespace, name, uid } = metadata;
  const args = { PodNamespace: namespace, PodName: name, PodUID: uid, Node: node };
  return (await ask<{ readonly Error: string }>(binder, "bind", args)).Error;
}

/** Asks whether the pod may go to the node; gives why not, or nothing. */
export async function filter(binder: Pick<RunningBinder, "url">, pod: Pod, node: string): Promise<string> {
  const args = { Pod: pod, Nodes: null, NodeNames: [node] };
  const { FailedNodes, FailedAndUnresolvableNodes, Error: error } = await ask<Filtered>(binder, "filter", args);
  return error || (FailedNodes?.[node] ?? FailedAndUnresolvableNodes?.[node] ?? "");
}

interface Filtered {
  readonly FailedNodes?: Readonly<Record<string, string>>;
  readonly FailedAndUnresolvableNodes?: Readonly<Record<string, string>>;
  readonly Error?: string;
}

async function ask<T>({ url }: Pick<RunningBinder, "url">, verb: string, args: object): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${url}/gpushare-scheduler/${verb}`, {
    method: "POST",
    headers,
    body: JSON.stringify(args),
  });
  if (answer.status !== 200) throw new Error(`${verb} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** One number of the binder's metrics; 0 for one that is not there. */
export async function metric(binder: Pick<RunningBinder, "get">, name: string): Promise<number> {
  const { text } = await binder.get("/metrics");
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

/** How often events of this reason were written about the pod, once the first is there and nothing more comes. */
export async function told({ api }: ControlPlane, pod: Pod, reason: string): Promise<number> {
  const count = async () => {
    const events = (await api.events(pod)).filter((event) => event.reason === reason);
    return events.reduce((sum, event) => sum + Number(event["series"] ? Object(event["series"])["count"] : 1), 0);
  };
  await eventually(`pod ${pod.metadata.name} has an event ${reason}`, async () => (await count()) > 0);
  return stays(`events ${reason} of pod ${pod.metadata.name}`, count, 1_500);
}

/** The devices that hold more than they have, by the pods' annotations. */
export function overfull(pods: readonly Pod[]): string[] {
  const free = new Map<string, number>();
  const holders = pods.filter(({ spec, status }) => spec.nodeName !== undefined && status?.phase !== "Succeeded");
  for (const pod of holders) {
    const { index, amount = 0, device = 0 } = deviceOf(pod);
    const key = `${pod.spec.nodeName} ${index}`;
    free.set(key, (free.get(key) ?? Number(device)) - Number(amount));
  }
  return [...free].filter(([, left]) => left < 0).map(([key]) => key);
}
