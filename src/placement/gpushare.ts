/**
 * The contract of gpushare, to be a drop-in for its scheduler extender (AliyunContainerService/
 * gpushare-scheduler-extender c0b6141) beside its device plugin (gpushare-device-plugin 45fb8b8): resources,
 * annotations and the ConfigMap of unhealthy devices, as pure functions over JSON objects.
 */
import { parseQuantity, toUnits } from "../policy/quantity.ts";
import { GPU_COUNT, GPU_MEMORY } from "../policy/views/gpu-request.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import type { DeviceSlot, PlacedPod } from "./model.ts";

/** Id of the device that the pod was given. */
const INDEX = "ALIYUN_COM_GPU_MEM_IDX";
/** What the pod takes of it. */
const OF_POD = "ALIYUN_COM_GPU_MEM_POD";
/** What the device has. */
const OF_DEVICE = "ALIYUN_COM_GPU_MEM_DEV";
/** `false` until the device plugin has handed the device to a container, then `true`. */
const ASSIGNED = "ALIYUN_COM_GPU_MEM_ASSIGNED";
/** Unix time in nanoseconds: the device plugin takes a node's pods in this order. */
const ASSUME_TIME = "ALIYUN_COM_GPU_MEM_ASSUME_TIME";

/** Where ConfigMaps about unhealthy devices live, one for a node that has any. */
export const UNHEALTHY_NAMESPACE = "kube-system";
const UNHEALTHY_PREFIX = "unhealthy-gpu-";

/** More devices than any machine has: a larger count is a mistake, not a node. */
const MAX_DEVICES = 256n;

/** A device given to a pod. */
export interface Assignment {
  readonly slot: DeviceSlot;
  readonly request: bigint;
  /** Unix time in nanoseconds, strictly increasing on one node: equal stamps can swap devices between pods. */
  readonly assumeTime: bigint;
}

/** The five annotations that the device plugin, `kubectl inspect gpushare` and later reads of the pod need. */
export function assignmentAnnotations({ slot, request, assumeTime }: Assignment): Record<string, string> {
  return {
    [INDEX]: slot.id,
    [OF_POD]: request.toString(),
    [OF_DEVICE]: slot.total.toString(),
    [ASSIGNED]: "false",
    [ASSUME_TIME]: assumeTime.toString(),
  };
}

/**
 * The device that a pod's annotations name, and what the pod takes of it. Undefined without a readable device id; an
 * amount that cannot be read counts as what the pod asks for.
 */
export function assignedDevice(pod: JsonObject, request: bigint): PlacedPod["assigned"] {
  const annotations = field(field(pod, "metadata"), "annotations");
  const device = deviceId(field(annotations, INDEX));
  if (device === undefined) return undefined;
  const amount = field(annotations, OF_POD);
  const readable = typeof amount === "string" && /^\d{1,18}$/.test(amount);
  const stamp = field(annotations, ASSUME_TIME);
  const assumeTime = typeof stamp === "string" && /^\d{1,19}$/.test(stamp) ? { assumeTime: BigInt(stamp) } : {};
  return { device, amount: readable ? BigInt(amount) : request, ...assumeTime };
}

/**
 * A node's devices, `0` to `count - 1`, each with its share of the memory rounded down: the contract knows no unequal
 * ones. Capacity that is absent, cannot be read, or makes no sense gives none.
 */
export function deviceSlots(node: JsonObject, unhealthy: ReadonlySet<string>): readonly DeviceSlot[] {
  const count = capacityOf(node, GPU_COUNT);
  const memory = gpuCapacity(node);
  if (count <= 0n || count > MAX_DEVICES || memory <= 0n) return [];
  return Array.from({ length: Number(count) }, (_, index) => {
    const id = String(index);
    return { id, total: memory / count, healthy: !unhealthy.has(id) };
  });
}

/** The GPU memory that a node reports, of all its devices together; 0 when it reports none that can be read. */
export function gpuCapacity(node: JsonObject): bigint {
  return capacityOf(node, GPU_MEMORY);
}

function capacityOf(node: JsonObject, resource: string): bigint {
  const quantity = parseQuantity(field(field(field(node, "status"), "capacity"), resource));
  return quantity === undefined ? 0n : toUnits(quantity);
}

/** The name of the ConfigMap in `kube-system` that lists a node's unhealthy devices. */
export function unhealthyConfigMap(nodeName: string): string {
  return `${UNHEALTHY_PREFIX}${nodeName}`;
}

/** The node that a ConfigMap lists unhealthy devices of; undefined for any other ConfigMap. */
export function nodeOfConfigMap(configMap: JsonObject): string | undefined {
  const metadata = field(configMap, "metadata");
  const name = field(metadata, "name");
  if (typeof name !== "string" || field(metadata, "namespace") !== UNHEALTHY_NAMESPACE) return undefined;
  const node = name.startsWith(UNHEALTHY_PREFIX) ? name.slice(UNHEALTHY_PREFIX.length) : "";
  return node === "" ? undefined : node;
}

/** What a ConfigMap says about a node's devices. */
export interface Unhealthy {
  readonly ids: ReadonlySet<string>;
  /** A sentence for each entry that is no device id and marks nothing; for a warning. */
  readonly problems: readonly string[];
}

/**
 * Reads the ids of unhealthy devices: key `gpus`, separated by commas. No ConfigMap and no key mean that all are
 * healthy. An entry that is no id marks nothing (gpushare marks device 0).
 */
export function unhealthyDevices(configMap: JsonObject | undefined): Unhealthy {
  const list = field(field(configMap, "data"), "gpus");
  const ids = new Set<string>();
  const problems: string[] = [];
  for (const entry of typeof list === "string" ? list.split(",") : []) {
    const text = entry.trim();
    const id = deviceId(text);
    if (id !== undefined) ids.add(id);
    else if (text !== "") problems.push(badEntry(configMap, text));
  }
  return { ids, problems };
}

function badEntry(configMap: JsonObject | undefined, entry: string): string {
  const metadata = field(configMap, "metadata");
  const place = `ConfigMap ${field(metadata, "namespace") ?? ""}/${field(metadata, "name") ?? ""}, key gpus`;
  return `${place}: ${JSON.stringify(entry.slice(0, 40))} is not a device id such as 0 and is ignored: list ids separated by commas`;
}

/** A device id in its one spelling. */
function deviceId(value: unknown): string | undefined {
  return typeof value === "string" && /^\d{1,9}$/.test(value) ? String(Number(value)) : undefined;
}
