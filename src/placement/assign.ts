import { gpuRefusal } from "../policy/gpu-fit.ts";
import { GPU_MEMORY, readGpuRequest } from "../policy/views/gpu-request.ts";
import { chooseDevice, type Usage } from "./holdings.ts";
import type { DeviceSlot, PlacedNode, PlacedPod } from "./model.ts";
import { devicesOf } from "./usage.ts";

/** A device for a pod, or why the node has none. */
export type Assigned = { readonly slot: DeviceSlot } | { readonly refusal: string };

/**
 * Chooses a pod's device on a node by the rule that filters nodes too, from live state.
 *
 * A refusal is the filter's own sentence: it names the pod's numbers, not the node's.
 *
 * @param pod one with a device request or a `problem`; its whole spec has to be in `object`
 */
export function assignDevice(pod: PlacedPod, node: PlacedNode, usage: Usage): Assigned {
  const request = readGpuRequest(pod.object);
  const refused = gpuRefusal(request, devicesOf(node, usage).devices[GPU_MEMORY] ?? []);
  if (refused !== undefined) return { refusal: refused.reason };
  const slot = request.amount > 0n ? chooseDevice(node, usage, request.amount) : undefined;
  return slot === undefined ? { refusal: `pod asks for no ${GPU_MEMORY}: it needs no device` } : { slot };
}
