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
export const podRequests = requestsView(
  "podRequests",
  "What the pod takes of a node: cpu in millicores, memory and ephemeral-storage in bytes, others in units.",
  (pod) => requestsOf(pod, { status: true, podLevel: true }),
);

/** As {@link podRequests}, but a container that requests no cpu or no memory counts with 100m and 200Mi. */
export const podNonZeroRequests = requestsView(
  "podNonZeroRequests",
  "What the pod takes of a node, where a container that requests no cpu or memory counts as 100m and 200Mi.",
  (pod) => requestsOf(pod, { status: true, podLevel: true, missing: missingOf(pod) }),
);

/** What NodeResourcesFit wants to find free: `computePodResourceRequest` of noderesources/fit.go, v1.37.2. */
export const podFitRequests = requestsView(
  "podFitRequests",
  "What has to be free for the pod: as podRequests, by the pod's spec alone.",
  (pod) => requestsOf(pod, { status: false, podLevel: true }),
);

/**
 * What NodeResourcesFit adds to a node's sum to score it. Its scorer is made without the options for pod-level and
 * status resources (`NewFit` in noderesources/fit.go, v1.37.2), so requests of the pod as a whole do not count here.
 */
export const podScoreRequests = requestsView(
  "podScoreRequests",
  "What the containers ask for by the pod's spec, where one that requests no cpu or memory counts as 100m and 200Mi.",
  (pod) => requestsOf(pod, { status: false, podLevel: false, missing: NON_ZERO }),
);

/** kube-scheduler's defaults for scoring: `pkg/scheduler/util/pod_resources.go`, v1.37.2. */
const NON_ZERO: ResourceList = { cpu: 100n * 10n ** 6n, memory: 200n * 1024n ** 2n * 10n ** 9n };

function requestsView(name: string, doc: string, count: (pod: PodResources) => ResourceList): View<Amounts> {
  return {
    name,
    of: "pod",
    pace: "slow",
    doc,
    paths: RESOURCE_PATHS,
    fact: amounts,
    read: (pod) => readRequests(pod, count),
  };
}

function readRequests(pod: JsonObject, count: (pod: PodResources) => ResourceList): Amounts | Unreadable {
  const faults: Unreadable[] = [];
  const resources = readPodResources(pod, faults);
  if (faults[0]) return faults[0];
  const counted = emptyMap<bigint>();
  for (const [resource, quantity] of Object.entries(count(resources))) counted[resource] = amountOf(resource, quantity);
  return counted;
}

/** `PodResourcesOptions` upstream. */
interface Counting {
  /** Whether resources in the status count too. */
  readonly status: boolean;
  /** Whether requests of the pod as a whole replace those of its containers. */
  readonly podLevel: boolean;
  /** What a container counts with where it has no request of its own. */
  readonly missing?: ResourceList;
}

/**
 * `PodRequests` of `k8s.io/component-helpers` resource/helpers.go, v0.37.2. Resources that a claim maps onto the node
 * (feature gate DRANodeAllocatableResources, off by default) do not count.
 */
function requestsOf(pod: PodResources, { status, podLevel, missing }: Counting): ResourceList {
  const containers = status ? containerRequests(pod, missing) : aggregate(pod, missing, ({ requests }) => requests);
  const whole = podLevel ? podLevelRequests(pod, status) : undefined;
  return sumOf(firstOf(whole, containers), pod.overhead);
}

/** A pod that requests as a whole lacks only what it requests nowhere: `getNonMissingContainerRequests` upstream. */
function missingOf(pod: PodResources): ResourceList {
  if (Object.keys(podLevelRequests(pod, false)).length === 0) return NON_ZERO;
  const requests = requestsOf(pod, { status: true, podLevel: true });
  const { cpu, memory } = NON_ZERO as { cpu: bigint; memory: bigint };
  return { ...(requests["cpu"] === undefined && { cpu }), ...(requests["memory"] === undefined && { memory }) };
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
function podLevelRequests(pod: PodResources, status: boolean): ResourceList {
  const asked = podLevelOnly(withPodLimits(pod));
  if (Object.keys(asked).length === 0 || !pod.reported || !status) return asked;
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
