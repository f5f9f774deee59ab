import { GPU_PROBLEMS, readGpuRequest } from "../policy/views/gpu-request.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { assignedDevice, deviceSlots } from "./gpushare.ts";
import type { PlacedNode, PlacedPod } from "./model.ts";

/** The annotation by which somebody has revoked a claim of the pod: its value is the claim's id. */
export const REVOKED_ANNOTATION = "berth.dev/revoked";

/** Every place of a pod that {@link placedPod} and the choice of victims look at. */
export const POD_PATHS: readonly string[] = [
  "metadata.annotations",
  "metadata.deletionTimestamp",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.resourceVersion",
  "metadata.uid",
  "spec.containers",
  "spec.initContainers",
  "spec.nodeName",
  "spec.priority",
  "status.nominatedNodeName",
  "status.phase",
  "status.startTime",
];

/** Every place of a node that {@link placedNode} and inspect look at. */
export const NODE_PATHS: readonly string[] = ["metadata.name", "metadata.uid", "status.capacity"];

/** Reads a pod. Never fails: what is missing or of the wrong type reads as empty, 0 or absent. */
export function placedPod(object: JsonObject): PlacedPod {
  const metadata = field(object, "metadata");
  const spec = field(object, "spec");
  const status = field(object, "status");
  const request = readGpuRequest(object);
  const assigned = request.amount > 0n ? assignedDevice(object, request.amount) : undefined;
  const nominatedNode = text(field(status, "nominatedNodeName"));
  const revoked = text(field(field(metadata, "annotations"), REVOKED_ANNOTATION));
  const priority = field(spec, "priority");
  const phase = field(status, "phase");
  return {
    uid: text(field(metadata, "uid")),
    namespace: text(field(metadata, "namespace")),
    name: text(field(metadata, "name")),
    resourceVersion: text(field(metadata, "resourceVersion")),
    nodeName: text(field(spec, "nodeName")),
    priority: typeof priority === "number" ? priority : 0,
    terminal: phase === "Succeeded" || phase === "Failed",
    request: request.amount,
    ...(request.problem !== undefined && { problem: GPU_PROBLEMS[request.problem] }),
    ...(assigned !== undefined && { assigned }),
    ...(nominatedNode !== "" && { nominatedNode }),
    ...(revoked !== "" && { revoked }),
    object,
  };
}

/**
 * Reads a node. Never fails: a node whose devices cannot be read has none.
 *
 * @param unhealthy ids of devices that take no new pod
 */
export function placedNode(object: JsonObject, unhealthy: ReadonlySet<string>): PlacedNode {
  const metadata = field(object, "metadata");
  return {
    name: text(field(metadata, "name")),
    uid: text(field(metadata, "uid")),
    devices: deviceSlots(object, unhealthy),
    object,
  };
}

/** True once somebody has asked for the pod's end. It holds what it has until it is gone. */
export function isTerminating(pod: PlacedPod): boolean {
  return text(field(field(pod.object, "metadata"), "deletionTimestamp")) !== "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
