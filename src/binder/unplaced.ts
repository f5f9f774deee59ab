import type { EventDraft } from "../cluster/event-object.ts";
import type { PlacedPod } from "../placement/model.ts";
import { withoutDeviceEvent } from "./events.ts";
import type { PodIndex } from "./pod-index.ts";

/** The pods that ask for device memory and reached a node without a device, warned of one by one. */
export interface Unplaced {
  /** Warns of those nobody has been warned of yet, if this process leads. */
  warn(): void;
}

/** Follows the pods; each is warned of once for as long as this process runs. */
export function followUnplaced(
  pods: PodIndex,
  { isLeader, record }: { isLeader(): boolean; record(event: EventDraft): void },
): Unplaced {
  const due = new Map<string, PlacedPod>();
  const warned = new Set<string>();
  const warn = (): void => {
    if (due.size === 0 || !isLeader()) return;
    for (const [uid, pod] of due) {
      warned.add(uid);
      record(withoutDeviceEvent(pod));
    }
    due.clear();
  };
  pods.subscribe((pod, gone) => {
    const without = !gone && pod.nodeName !== "" && pod.request > 0n && pod.assigned === undefined;
    if (gone) warned.delete(pod.uid);
    if (without && !warned.has(pod.uid)) due.set(pod.uid, pod);
    else due.delete(pod.uid);
    warn();
  });
  return { warn };
}
