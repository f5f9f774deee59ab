import * as z from "zod";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { Unreadable, type View } from "../view.ts";
import { at, items, type Place } from "./place.ts";

/** A port of the node itself that a pod takes. */
export interface HostPort {
  /** `TCP/8080`. */
  readonly port: string;
  /** The node's address that is meant; {@link EVERY_ADDRESS} for all. */
  readonly ip: string;
}

/** Stands for all addresses of a node. */
export const EVERY_ADDRESS = "0.0.0.0";

/** Ports in use on a node: the addresses of each, such as `TCP/8080`. */
export type UsedPorts = Readonly<Record<string, readonly string[]>>;

/** Every place of a pod that says something about host ports. */
export const PORT_PATHS = ["spec.containers", "spec.hostNetwork", "spec.initContainers"] as const;

/** The ports of the node that the pod takes, for its containers and native sidecars. */
export const podHostPorts: View<readonly HostPort[]> = {
  name: "podHostPorts",
  of: "pod",
  pace: "slow",
  doc: "The ports of the node that the pod takes for its containers and native sidecars.",
  paths: PORT_PATHS,
  fact: z.array(z.object({ port: z.string(), ip: z.string() })),
  read: readHostPorts,
};

/**
 * True when a port is taken that a pod wants: `HostPortInfo.CheckConflict` of kube-scheduler framework/types.go,
 * v0.37.2.
 */
export function conflicts(wanted: readonly HostPort[], used: UsedPorts): boolean {
  return wanted.some(({ port, ip }) => {
    const taken = used[port];
    if (taken === undefined || taken.length === 0) return false;
    return ip === EVERY_ADDRESS || taken.includes(ip) || taken.includes(EVERY_ADDRESS);
  });
}

/** `GetHostPorts` of `pkg/scheduler/util/utils.go`, v1.37.2. */
function readHostPorts(pod: JsonObject): readonly HostPort[] | Unreadable {
  const faults: Unreadable[] = [];
  const spec = at({ value: pod, path: "" }, "spec");
  const sidecars = items(at(spec, "initContainers"), faults).filter(isSidecar);
  const network = at(spec, "hostNetwork").value === true;
  const ports: HostPort[] = [];
  for (const container of [...sidecars, ...items(at(spec, "containers"), faults)]) {
    for (const place of items(at(container, "ports"), faults)) {
      const port = readPort(place, network);
      if (port instanceof Unreadable) faults.push(port);
      else if (port !== undefined) ports.push(port);
    }
  }
  return faults[0] ?? ports;
}

function isSidecar(container: Place): boolean {
  return at(container, "restartPolicy").value === "Always";
}

/**
 * On the node's network a container's port is the node's: the API server stores such pods with `hostPort` set
 * (`defaultHostNetworkPorts` in pkg/apis/core/v1/defaults.go, v1.37.2).
 */
function readPort(place: Place, network: boolean): HostPort | Unreadable | undefined {
  const own = at(place, "hostPort").value ?? 0;
  const port = own === 0 && network ? (at(place, "containerPort").value ?? 0) : own;
  if (typeof port !== "number") return new Unreadable(`${place.path}.hostPort`, "is not a port number");
  if (port <= 0) return undefined;
  const text = (value: Json | undefined, absent: string) => (typeof value === "string" && value ? value : absent);
  return {
    port: `${text(at(place, "protocol").value, "TCP")}/${port}`,
    ip: text(at(place, "hostIP").value, EVERY_ADDRESS),
  };
}
