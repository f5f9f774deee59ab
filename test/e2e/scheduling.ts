import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { nodeClasses } from "../controlplane/instances.ts";
import { buildNode } from "../controlplane/nodes.ts";
import type { Node, Pod } from "../controlplane/objects.ts";
import type { RunningFunction } from "./function.ts";

/** An extender's entry that reaches a function over verified HTTPS; `path` is `<secret>/<profile>`. */
export function extenderEntry(
  { url, caData }: Pick<RunningFunction, "url" | "caData">,
  path: string,
  fields: JsonObject,
): JsonObject {
  return { urlPrefix: `${url}/${path}`, enableHTTPS: true, tlsConfig: { caData }, ...fields };
}

/** Verbs of an entry: scores only, or refusals too. */
export const prioritizeOnly = { prioritizeVerb: "prioritize", weight: 1 };
export const filterToo = { filterVerb: "filter", prioritizeVerb: "prioritize", weight: 1 };

/** Profiles with these scheduler names; with `preemption: false` nothing is evicted for their pods. */
export function profiles(names: readonly string[], { preemption = true } = {}): JsonObject[] {
  const plugins = preemption ? {} : { postFilter: { disabled: [{ name: "DefaultPreemption" }] } };
  return names.map((schedulerName) => ({ schedulerName, plugins }));
}

/** A node of 8 CPUs and 32Gi that no pod runs on. */
export function plainNode(name: string, labels: Readonly<Record<string, string>> = {}): Node {
  const [of] = nodeClasses;
  const allocatable = { cpu: "8", memory: "32Gi", pods: "110" };
  return buildNode({ name, labels, allocatable, capacity: allocatable, images: 3, ...(of && { class: of }) });
}

let named = 0;

/** A pod's name that no other pod of this process has, so that logs tell them apart. */
export function nextName(): string {
  named += 1;
  return `pod-${named}`;
}

/** Waits until a pod has a node and tells which. */
export function placed({ api }: ControlPlane, pod: Pod): Promise<string> {
  return eventually(`pod ${pod.metadata.name} has a node`, async (saw) => {
    const now = await api.get<Pod>(pod);
    saw(now.status);
    return now.spec.nodeName;
  });
}

/** Waits until a pod was refused and gives the message of its FailedScheduling event. */
export function refused({ api }: ControlPlane, pod: Pod): Promise<string> {
  return eventually(`pod ${pod.metadata.name} has a FailedScheduling event`, async (saw) => {
    const events = await api.events(pod);
    saw(events.map(({ reason, message }) => `${reason}: ${message}`));
    return events.findLast(({ reason }) => reason === "FailedScheduling")?.message;
  });
}
