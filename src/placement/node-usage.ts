import { Unreadable } from "../policy/view.ts";
import { type Counts, countsOf } from "../policy/views/counts.ts";
import { type HostPort, PORT_PATHS, podHostPorts } from "../policy/views/host-ports.ts";
import { emptyMap } from "../policy/views/maps.ts";
import type { NodeUsage } from "../policy/views/node-usage.ts";
import { podNonZeroRequests, podRequests } from "../policy/views/pod-requests.ts";
import { RESOURCE_PATHS } from "../policy/views/pod-resources.ts";
import type { JsonObject } from "../protocol/json.ts";

/** Every place of a pod that {@link podUsage} looks at. */
export const USAGE_PATHS: readonly string[] = [...new Set<string>([...RESOURCE_PATHS, ...PORT_PATHS])];

/** What one pod takes of its node. */
export interface PodUsage {
  readonly requested: Counts;
  readonly nonZero: { readonly cpu: number; readonly memory: number };
  readonly ports: readonly HostPort[];
  /** The field that could not be read: what it says counts as nothing. */
  readonly unreadable?: Unreadable;
}

/**
 * Reads what a pod takes of its node: `PodInfo.CalculateResource` and `GetHostPorts` of kube-scheduler, v1.37.2. Never
 * fails, so that one bad pod never stops the rest.
 */
export function podUsage(pod: JsonObject): PodUsage {
  const [requests, nonZero, ports] = [podRequests, podNonZeroRequests, podHostPorts].map((view) => view.read?.(pod, 0));
  const unreadable = [requests, nonZero, ports].find((fact) => fact instanceof Unreadable);
  const amounts = (fact: unknown) => (fact instanceof Unreadable ? emptyMap<number>() : countsOf(fact as never));
  const { cpu = 0, memory = 0 } = amounts(nonZero);
  return {
    requested: amounts(requests),
    nonZero: { cpu, memory },
    ports: ports instanceof Unreadable ? [] : (ports as readonly HostPort[]),
    ...(unreadable instanceof Unreadable && { unreadable }),
  };
}

/**
 * What the pods of one node take, kept up as they come and go: the value of the view `nodeUsage`. It changes in place.
 *
 * A scheduler keeps one for each node, of the pods that are bound or assumed and have not ended. The binder knows the
 * pods of each node too and could keep one; it does not, for kube-scheduler's own plugins have run before it is asked.
 */
export interface RunningUsage extends NodeUsage {
  add(pod: PodUsage): void;
  /** Takes back what was added; with the same value, for the pod may have changed since. */
  remove(pod: PodUsage): void;
}

/** An empty node's usage. */
export function createNodeUsage(): RunningUsage {
  const requested = emptyMap<number>();
  const nonZero = { cpu: 0, memory: 0 };
  const ports = emptyMap<string[]>();
  let pods = 0;
  const count = (pod: PodUsage, sign: 1 | -1): void => {
    pods += sign;
    nonZero.cpu += sign * pod.nonZero.cpu;
    nonZero.memory += sign * pod.nonZero.memory;
    for (const resource in pod.requested) {
      requested[resource] = (requested[resource] ?? 0) + sign * (pod.requested[resource] ?? 0);
    }
  };
  return {
    get pods() {
      return pods;
    },
    requested,
    nonZero,
    ports,
    add(pod) {
      count(pod, 1);
      for (const { port, ip } of pod.ports) ports[port] = [...(ports[port] ?? []), ip];
    },
    remove(pod) {
      count(pod, -1);
      for (const { port, ip } of pod.ports) release(ports, port, ip);
    },
  };
}

/** Of two pods with the same port only one gives it up. */
function release(ports: Record<string, string[]>, port: string, ip: string): void {
  const held = ports[port] ?? [];
  const index = held.indexOf(ip);
  const left = held.filter((_, each) => each !== index);
  if (left.length === 0) delete ports[port];
  else ports[port] = left;
}
