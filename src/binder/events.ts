import type { EventDraft, Regarding } from "../cluster/event-object.ts";
import type { Claim, PlacedPod } from "../placement/model.ts";
import { GPU_MEMORY } from "../policy/views/gpu-request.ts";
import type { BindArgs } from "../protocol/bind.ts";

/**
 * The event that kube-scheduler emits once an extender has bound a pod, in its words (`bindingCycle` in
 * pkg/scheduler/schedule_one.go, v1.37.2): for a pod whose caller had left before the answer.
 */
export function scheduledEvent({ namespace, name, uid, node }: BindArgs): EventDraft {
  const note = `Successfully assigned ${namespace}/${name} to ${node}`;
  return { type: "Normal", reason: "Scheduled", action: "Binding", note, regarding: podRef({ namespace, name, uid }) };
}

/** A pod was given a device. */
export function deviceAssignedEvent(pod: BindArgs, { device, amount }: Claim): EventDraft {
  const note = `Device ${device} of node ${pod.node}: ${amount} ${GPU_MEMORY}`;
  return { type: "Normal", reason: "DeviceAssigned", action: "Binding", note, regarding: podRef(pod) };
}

/** A pod was not bound. The reason is one constant sentence for a cause, so that repetitions become one event. */
export function bindRefusedEvent(pod: BindArgs, reason: string): EventDraft {
  const note = `Not bound to node ${pod.node}: ${reason}`;
  return { type: "Warning", reason: "BindRefused", action: "Binding", note, regarding: podRef(pod) };
}

/** A pod that asks for device memory has reached a node without being given a device. */
export function withoutDeviceEvent(pod: PlacedPod): EventDraft {
  const note =
    `The pod asks for ${pod.request} ${GPU_MEMORY} and reached node ${pod.nodeName} without a device of it: it was bound ` +
    "past the binder, and counts on every device of the node until it ends. Delete it to have it placed anew";
  return { type: "Warning", reason: "BoundWithoutDevice", action: "Binding", note, regarding: podRef(pod) };
}

function podRef({ namespace, name, uid }: Pick<BindArgs, "namespace" | "name" | "uid">): Regarding {
  return { apiVersion: "v1", kind: "Pod", namespace, name, uid };
}
