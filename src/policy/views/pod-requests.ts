import type { JsonObject } from "../../protocol/json.ts";
import type { Unreadable, View } from "../view.ts";
import { type Amounts, amountOf, amounts } from "./amounts.ts";
import { emptyMap } from "./maps.ts";
import {
  type Container,
  type ContainerStatus,
  type PodResources,
  RESOURCE_PATHS,
  readPodResources,
} from "./pod-resources.ts";
import { firstOf, maxOf, type ResourceList, sumOf } from "./resource-list.ts";

/** What the pod takes of a node, as kube-scheduler counts it. */
export const podRequests: View<Amounts> = {
  name: "podRequests",
  of: "pod",
  pace: "slow",
  doc: "What the pod takes of a node: cpu in millicores, memory and ephemeral-storage in bytes, others in units.",
  paths: RESOURCE_PATHS,
  fact: amounts,
  read: (pod) => readRequests(pod, undefined),
};

/** As {@link podRequests}, but a container that requests no cpu or no memory counts with 100m and 200Mi. */
export const podNonZeroRequests: View<Amounts> = {
  name: "podNonZeroRequests",
  of: "pod",
  pace: "slow",
  doc: "What the pod takes of a node, where a container that requests no cpu or memory counts as 100m and 200Mi.",
  paths: RESOURCE_PATHS,
  fact: amounts,
  read: (pod) => readRequests(pod, NON_ZERO),
};

/** kube-scheduler's defaults for scoring: `pkg/scheduler/util/pod_resources.go`, v1.37.2. */
const NON_ZERO: ResourceList = { cpu: 100n * 10n ** 6n, memory: 200n * 1024n ** 2n * 10n ** 9n };

/**
 * `PodRequests` of `k8s.io/component-helpers` resource/helpers.go, v0.37.2, with the options that kube-scheduler
 * 1.37 gives by default: resources in the status count, pod-level ones too. Resources that a claim maps onto the node
 * (feature gate DRANodeAllocatableResources, off by default) do not.
 *
 * @param missing what a container counts with where it has no request of its own
 */
function readRequests(pod: JsonObject, missing: ResourceList | undefined): Amounts | Unreadable {
  const faults: Unreadable[] = [];
  const resources = readPodResources(pod, faults);
  if (faults[0]) return faults[0];
  const requests = sumOf(
    firstOf(podLevelRequests(resources), containerRequests(resources, missing)),
    resources.overhead,
  );
  const counted = emptyMap<bigint>();
  for (const [resource, quantity] of Object.entries(requests)) counted[resource] = amountOf(resource, quantity);
  return counted;
}

/** What is asked, granted or running, whichever is most; a resize that can never be granted does not count. */
function containerRequests(pod: PodResources, missing: ResourceList | undefined): ResourceList {
  const podReports = pod.allocated !== undefined && pod.actuated !== undefined;
  const granted = ({ requests }: Container, status: ContainerStatus | undefined) =>
    status?.allocated ?? (pod.resizeInfeasible ? undefined : requests);
  const allocated = podReports ? pod.allocated : aggregate(pod, missing, granted);
  const actuated = podReports
    ? pod.actuated
    : aggregate(pod, missing, (container, status) => status?.actuated ?? granted(container, status));
  if (pod.resizeInfeasible) return maxOf(actuated, allocated);
  return maxOf(
    aggregate(pod, missing, ({ requests }) => requests),
    actuated,
    allocated,
  );
}

/** Requests of the pod as a whole, for the resources that can have them. */
function podLevelRequests(pod: PodResources): ResourceList {
  const asked = podLevelOnly(withPodLimits(pod));
  if (Object.keys(asked).length === 0 || !pod.reported) return asked;
  return podLevelOnly(maxOf(pod.resizeInfeasible ? undefined : asked, pod.actuated, pod.allocated));
}

/**
 * Where a pod has limits as a whole, the API server stores it with requests too: what its containers request
 * together, or else the limit (`defaultPodRequests` in pkg/apis/core/v1/defaults.go, v1.37.2).
 */
function withPodLimits(pod: PodResources): ResourceList {
  if (Object.keys(pod.limits ?? {}).length === 0) return pod.requests ?? {};
  const { cpu, memory } = aggregate(pod, undefined, ({ requests }) => requests);
  const together = { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
  return firstOf(pod.requests, together, pod.limits);
}

function podLevelOnly(list: ResourceList): ResourceList {
  const kept = emptyMap<bigint>();
  for (const [resource, quantity] of Object.entries(list)) {
    if (resource === "cpu" || resource === "memory" || resource.startsWith("hugepages-")) kept[resource] = quantity;
  }
  return kept;
}

/**
 * Containers run together; init containers run before them, one after another, each beside the native sidecars
 * started before it. The pod needs the most that it ever takes.
 */
function aggregate(
  pod: PodResources,
  missing: ResourceList | undefined,
  requestsOf: (container: Container, status: ContainerStatus | undefined) => ResourceList | undefined,
): ResourceList {
  const needs = (container: Container) => firstOf(requestsOf(container, pod.statuses.get(container.name)), missing);
  let running = sumOf(...pod.containers.map(needs));
  let sidecars: ResourceList = {};
  let starting: ResourceList = {};
  for (const container of pod.initContainers) {
    const needed = needs(container);
    const beside = sumOf(needed, sidecars);
    if (container.restarts) {
      running = sumOf(running, needed);
      sidecars = beside;
    }
    starting = maxOf(starting, beside);
  }
  return maxOf(running, starting);
}
