import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createInterface } from "node:readline";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";

/** One write to a pod, as the API server's watch tells it. */
export interface PodChange {
  readonly type: string;
  readonly object: Pod;
}

/** Every write to every pod, in the order in which the API server made them. */
export interface PodHistory {
  /** All changes so far: the answer waits until a write made after the question has been heard of. */
  complete(): Promise<readonly PodChange[]>;
}

/** Begins to record, to be called before the first pod is made; ends with the control plane. */
export async function recordPods(plane: ControlPlane): Promise<PodHistory> {
  const changes: PodChange[] = [];
  const query = "watch=1&resourceVersion=0&timeoutSeconds=3600";
  const asked = request(`${plane.url}/api/v1/pods?${query}`, {
    ca: plane.caPem,
    headers: { Authorization: `Bearer ${plane.adminToken}` },
  });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  plane.onStop(() => void asked.destroy());
  answer.on("error", () => undefined);
  const lines = createInterface({ input: answer });
  // A history that broke off never catches up: `complete` says so.
  lines.on("error", () => undefined);
  lines.on("line", (line) => changes.push(JSON.parse(line) as PodChange));
  let marks = 0;
  return {
    async complete() {
      const name = `history-mark-${++marks}`;
      await plane.api.remove(await plane.api.create(buildPod({ name, schedulerName: "nobody" })));
      await eventually("the history has caught up", () =>
        changes.some(({ type, object }) => type === "DELETED" && object.metadata.name === name),
      );
      return changes;
    },
  };
}

/**
 * The most that each device, as `<node>/<id>`, was taken at any moment: by pods that were bound to the node with the
 * device in their annotations and had neither ended nor gone. Throws for a change that is none, such as an error.
 */
export function peaks(changes: readonly PodChange[]): Map<string, number> {
  const held = new Map<string, Held>();
  const used = new Map<string, number>();
  const most = new Map<string, number>();
  const add = (device: string, amount: number): void => {
    const sum = (used.get(device) ?? 0) + amount;
    used.set(device, sum);
    most.set(device, Math.max(sum, most.get(device) ?? 0));
  };
  for (const { type, object } of changes) {
    if (!["ADDED", "MODIFIED", "DELETED"].includes(type)) throw new Error(`the history broke off: ${type}`);
    const uid = object.metadata.uid ?? "";
    const before = held.get(uid);
    if (before) add(before.device, -before.amount);
    held.delete(uid);
    const now = type === "DELETED" ? undefined : holding(object);
    if (now === undefined) continue;
    held.set(uid, now);
    add(now.device, now.amount);
  }
  return most;
}

interface Held {
  readonly device: string;
  readonly amount: number;
}

function holding({ metadata, spec, status }: Pod): Held | undefined {
  const { ALIYUN_COM_GPU_MEM_IDX: id, ALIYUN_COM_GPU_MEM_POD: amount } = metadata.annotations ?? {};
  const over = status?.phase === "Succeeded" || status?.phase === "Failed";
  if (spec.nodeName === undefined || over || id === undefined) return undefined;
  return { device: `${spec.nodeName}/${id}`, amount: Number(amount) };
}
