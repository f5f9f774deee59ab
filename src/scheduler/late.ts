import { LRUCache } from "lru-cache";
import type { EventDraft } from "../cluster/event-object.ts";
import type { Claim, PlacedPod } from "../placement/model.ts";
import { field } from "../protocol/json.ts";
import { BOUND_BY_ANNOTATION } from "./bind.ts";
import { deviceAssignedEvent, scheduledEvent } from "./reasons.ts";

/** Bindings that no answer confirmed and that took effect all the same: each such pod is told of, and once. */
export interface LateBindings {
  /** A bind of the pod has failed, as far as is known. */
  doubt(uid: string): void;
  /** A pod as the watch shows it: one that was in doubt and is on a node by a Binding of this process is told of. */
  shown(pod: PlacedPod): void;
  /** A Binding of this process is known to have taken effect, with a device or none: told of, unless it has been already. */
  confirmed(pod: PlacedPod, node: string, device?: Device): void;
}

type Device = Pick<Claim, "device" | "amount">;

/** Pods in doubt at a time; most of them are bound by the next Binding or deleted. */
const IN_DOUBT = 10_000;

/** @param identity of this process, as its Bindings carry it */
export function createLateBindings(identity: string, record: (event: EventDraft) => void): LateBindings {
  const doubts = new LRUCache<string, "open" | "told">({ max: IN_DOUBT });
  const tell = (pod: PlacedPod, node: string, device: Device | undefined): void => {
    if (doubts.get(pod.uid) === "open") doubts.set(pod.uid, "told");
    if (device !== undefined) record(deviceAssignedEvent(pod, node, device));
    record(scheduledEvent(pod, node));
  };
  return {
    doubt(uid) {
      if (doubts.get(uid) === undefined) doubts.set(uid, "open");
    },
    shown(pod) {
      if (pod.nodeName === "" || doubts.peek(pod.uid) !== "open") return;
      const annotations = field(field(pod.object, "metadata"), "annotations");
      if (field(annotations, BOUND_BY_ANNOTATION) === identity) tell(pod, pod.nodeName, pod.assigned);
    },
    confirmed(pod, node, device) {
      if (doubts.get(pod.uid) !== "told") tell(pod, node, device);
    },
  };
}
