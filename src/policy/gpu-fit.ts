import type { Rejection } from "./plugin.ts";
import type { Device } from "./views/devices.ts";
import { GPU_MEMORY, GPU_PROBLEMS, type GpuRequest } from "./views/gpu-request.ts";

/**
 * Why none of a node's devices can take the pod, or undefined when one can or the pod asks for none. The one rule of
 * filter, preempt and bind.
 *
 * For one pod it gives at most two different reasons, which name the pod's numbers and nothing of the node. A node is
 * resolvable only when a healthy device would be large enough once it is empty.
 *
 * @param devices all devices of the node for this resource, unhealthy ones too
 */
export function gpuRefusal(request: GpuRequest, devices: readonly Device[]): Rejection | undefined {
  if (request.problem !== undefined) return { reason: GPU_PROBLEMS[request.problem], unresolvable: true };
  if (request.amount === 0n) return undefined;
  const large = devices.filter(({ healthy, total }) => healthy && total >= request.amount);
  if (large.length === 0 || (request.containers > 1 && devices.length > 1)) {
    return { reason: unsuitable(request), unresolvable: true };
  }
  const fits = large.some((device) => freeMemory(device) >= request.amount);
  return fits ? undefined : { reason: full(request), unresolvable: false };
}

/** What a device can still take: nothing when it is unhealthy, or holds more than it has. */
export function freeMemory({ total, used, healthy }: Device): bigint {
  if (!healthy || used >= total) return 0n;
  return used > 0n ? total - used : total;
}

/**
 * gpushare's device plugin (45fb8b8) matches a container with the pod by size. A pod in which two containers ask never
 * matches, unless the node has only one device and nothing has to be matched.
 */
function unsuitable({ amount, containers }: GpuRequest): string {
  return containers > 1
    ? `node(s) didn't have exactly one GPU, healthy and with at least ${amount} ${GPU_MEMORY}, ` +
        `as a pod with ${containers} containers that ask for it needs`
    : `node(s) had no healthy GPU as large as the ${amount} ${GPU_MEMORY} that the pod asks for`;
}

function full({ amount }: GpuRequest): string {
  return `node(s) had no GPU with ${amount} ${GPU_MEMORY} free`;
}
