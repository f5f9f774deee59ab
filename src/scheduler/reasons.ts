import type { EventDraft, Regarding } from "../cluster/event-object.ts";
import type { Claim, PlacedPod } from "../placement/model.ts";
import { GPU_MEMORY } from "../policy/views/gpu-request.ts";

/** kube-scheduler's words for a cluster without nodes (`ErrNoNodesAvailable` in pkg/scheduler/scheduler.go, v1.37.2). */
export const NO_NODES = "no nodes available to schedule pods";

/** The API server's limit for an event's note, and kube-scheduler's way to keep it (`truncateMessage`, schedule_one.go). */
const NOTE_LIMIT = 1024;
const SUFFIX = " ...";

/**
 * Why no node takes a pod, in kube-scheduler's words: `0/3 nodes are available: 1 Insufficient memory, 2 node(s) were
 * unschedulable.` Reasons are sorted as text, counts included (`FitError.Error` in pkg/scheduler/framework/types.go,
 * v1.37.2).
 *
 * @param reasons of each node that refused, in any order
 */
export function fitMessage(nodes: number, reasons: Iterable<readonly string[]>): string {
  const counts = new Map<string, number>();
  for (const each of reasons) for (const reason of each) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts].map(([reason, count]) => `${count} ${reason}`).sort(byBytes);
  return `0/${nodes} nodes are available:${sorted.length === 0 ? "" : ` ${sorted.join(", ")}.`}`;
}

/** As Go sorts strings. */
function byBytes(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** A text of at most 1,024 bytes, cut as kube-scheduler cuts it. */
export function noteText(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= NOTE_LIMIT) return text;
  let end = NOTE_LIMIT - SUFFIX.length;
  // Not in the middle of a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end) + SUFFIX;
}

/** Which pod an event is about. */
export type EventPod = Pick<PlacedPod, "namespace" | "name" | "uid">;

/** As kube-scheduler says it (`bindingCycle` in pkg/scheduler/schedule_one.go, v1.37.2). */
export function scheduledEvent(pod: EventPod, node: string): EventDraft {
  const note = `Successfully assigned ${pod.namespace}/${pod.name} to ${node}`;
  return { type: "Normal", reason: "Scheduled", action: "Binding", note, regarding: podRef(pod) };
}

/** As kube-scheduler says it (`handleSchedulingFailure`, there). */
export function failedSchedulingEvent(pod: EventPod, message: string): EventDraft {
  return {
    type: "Warning",
    reason: "FailedScheduling",
    action: "Scheduling",
    note: noteText(message),
    regarding: podRef(pod),
  };
}

/** A pod was given a device, in the binder's words. */
export function deviceAssignedEvent(
  pod: EventPod,
  node: string,
  { device, amount }: Pick<Claim, "device" | "amount">,
): EventDraft {
  const note = `Device ${device} of node ${node}: ${amount} ${GPU_MEMORY}`;
  return { type: "Normal", reason: "DeviceAssigned", action: "Binding", note, regarding: podRef(pod) };
}

function podRef({ namespace, name, uid }: EventPod): Regarding {
  return { apiVersion: "v1", kind: "Pod", namespace, name, uid };
}
