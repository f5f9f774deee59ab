import type { PlacedPod } from "../placement/model.ts";
import { isTerminating } from "../placement/placed.ts";
import { field, type JsonObject } from "../protocol/json.ts";

/** Places of a pod that the scheduler looks at beside those of its plugins. */
export const POD_PATHS: readonly string[] = [
  "metadata.creationTimestamp",
  "spec.affinity",
  "spec.nodeSelector",
  "spec.resourceClaims",
  "spec.schedulerName",
  "spec.schedulingGates",
  "spec.tolerations",
  "spec.topologySpreadConstraints",
  "spec.volumes",
  "status.conditions",
];

/** True for a pod that this scheduler has to find a node for: it names it, has none, is not gated and not being deleted. */
export function isOurs(pod: PlacedPod, schedulerName: string): boolean {
  const spec = field(pod.object, "spec");
  const gates = field(spec, "schedulingGates");
  return (
    pod.nodeName === "" &&
    field(spec, "schedulerName") === schedulerName &&
    !(Array.isArray(gates) && gates.length > 0) &&
    !isTerminating(pod) &&
    !pod.terminal
  );
}

/** When the pod was created, in milliseconds since 1970; 0 where that cannot be read. */
export function createdAt({ object }: PlacedPod): number {
  const time = field(field(object, "metadata"), "creationTimestamp");
  return typeof time === "string" ? Date.parse(time) || 0 : 0;
}

/** True when nothing has changed that a plugin might judge otherwise: a pod's status never does that. */
export function asksTheSame(one: PlacedPod, other: PlacedPod): boolean {
  return questionOf(one.object) === questionOf(other.object);
}

function questionOf(pod: JsonObject): string {
  const metadata = field(pod, "metadata");
  return JSON.stringify([field(pod, "spec"), field(metadata, "labels"), field(metadata, "annotations")]);
}

/** Namespace and name, for log lines and people. */
export function fullName({ namespace, name }: Pick<PlacedPod, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}
