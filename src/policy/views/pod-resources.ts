import type { Json, JsonObject } from "../../protocol/json.ts";
import type { Unreadable } from "../view.ts";
import { at, items, type Place } from "./place.ts";
import { firstOf, type ResourceList, readList } from "./resource-list.ts";

/** Every place of a pod that says something about its resources. */
export const RESOURCE_PATHS = [
  "spec.containers",
  "spec.initContainers",
  "spec.overhead",
  "spec.resources",
  "status.allocatedResources",
  "status.conditions",
  "status.containerStatuses",
  "status.initContainerStatuses",
  "status.resources",
] as const;

/** A container as its resources see it. */
export interface Container {
  readonly name: Json | undefined;
  /** True for a native sidecar, if it is an init container. */
  readonly restarts: boolean;
  readonly requests: ResourceList | undefined;
}

/** What the kubelet has granted a container, and what it runs with. */
export interface ContainerStatus {
  readonly allocated: ResourceList | undefined;
  readonly actuated: ResourceList | undefined;
}

/** All that a pod says about its resources. */
export interface PodResources {
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
  /** By the container's name. */
  readonly statuses: ReadonlyMap<Json | undefined, ContainerStatus>;
  readonly overhead: ResourceList | undefined;
  /** Of the pod as a whole, as its spec asks. */
  readonly requests: ResourceList | undefined;
  readonly limits: ResourceList | undefined;
  /** Of the pod as a whole, as the kubelet reports; `reported` says that it has. */
  readonly reported: boolean;
  readonly allocated: ResourceList | undefined;
  readonly actuated: ResourceList | undefined;
  /** True when the kubelet will never grant the resize that the spec asks for. */
  readonly resizeInfeasible: boolean;
}

/** Reads a pod's resources; `faults` gains whatever cannot be read. */
export function readPodResources(pod: JsonObject, faults: Unreadable[]): PodResources {
  const spec = at({ value: pod, path: "" }, "spec");
  const status = at({ value: pod, path: "" }, "status");
  const list = (place: Place) => readList(place, faults);
  const each = (place: Place) => items(place, faults);
  return {
    containers: each(at(spec, "containers")).map((place) => readContainer(place, list)),
    initContainers: each(at(spec, "initContainers")).map((place) => readContainer(place, list)),
    statuses: readStatuses(
      [...each(at(status, "containerStatuses")), ...each(at(status, "initContainerStatuses"))],
      list,
    ),
    overhead: list(at(spec, "overhead")),
    requests: list(at(at(spec, "resources"), "requests")),
    limits: list(at(at(spec, "resources"), "limits")),
    reported: (at(status, "resources").value ?? undefined) !== undefined,
    allocated: list(at(status, "allocatedResources")),
    actuated: list(at(at(status, "resources"), "requests")),
    resizeInfeasible: isResizeInfeasible(each(at(status, "conditions"))),
  };
}

type ReadList = (place: Place) => ResourceList | undefined;

/**
 * A container's requests, with its limits for the requests that it leaves out. The API server stores pods so
 * (`SetDefaults_Pod` in pkg/apis/core/v1/defaults.go, v1.37.2): to a stored pod this changes nothing.
 */
function readContainer(container: Place, list: ReadList): Container {
  const resources = at(container, "resources");
  return {
    name: at(container, "name").value,
    restarts: at(container, "restartPolicy").value === "Always",
    requests: firstOf(list(at(resources, "requests")), list(at(resources, "limits"))),
  };
}

/** Of several statuses with one name the first counts. */
function readStatuses(places: readonly Place[], list: ReadList): Map<Json | undefined, ContainerStatus> {
  const statuses = new Map<Json | undefined, ContainerStatus>();
  for (const place of places) {
    const name = at(place, "name").value;
    const status = readStatus(place, list);
    if (!statuses.has(name)) statuses.set(name, status);
  }
  return statuses;
}

function readStatus(status: Place, list: ReadList): ContainerStatus {
  return {
    allocated: list(at(status, "allocatedResources")),
    actuated: list(at(at(status, "resources"), "requests")),
  };
}

function isResizeInfeasible(conditions: readonly Place[]): boolean {
  const pending = conditions.find((condition) => at(condition, "type").value === "PodResizePending");
  return pending !== undefined && at(pending, "reason").value === "Infeasible";
}
