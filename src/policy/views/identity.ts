import * as z from "zod";
import { field, type JsonObject } from "../../protocol/json.ts";
import { Unreadable, type View } from "../view.ts";

/** The node's name. */
export const nodeName: View<string> = {
  name: "nodeName",
  of: "node",
  pace: "slow",
  doc: "The node's name.",
  paths: ["metadata.name"],
  fact: z.string(),
  read: (node) => metadata(node, "name") || new Unreadable("metadata.name", "is missing"),
};

/** The pod's UID; empty for a pod that no API server has seen. */
export const podUid: View<string> = {
  name: "podUid",
  of: "pod",
  pace: "fast",
  doc: "The pod's UID, which no other pod ever has.",
  paths: ["metadata.uid"],
  fact: z.string(),
  read: (pod) => metadata(pod, "uid"),
};

/** The pod's namespace; `default` for a pod that names none. */
export const podNamespace: View<string> = {
  name: "podNamespace",
  of: "pod",
  pace: "slow",
  doc: "The pod's namespace.",
  paths: ["metadata.namespace"],
  fact: z.string(),
  read: (pod) => metadata(pod, "namespace") || "default",
};

/** The node that the pod names itself; empty for a pod that leaves the choice to a scheduler. */
export const podNodeName: View<string> = {
  name: "podNodeName",
  of: "pod",
  pace: "slow",
  doc: "The node that the pod names itself.",
  paths: ["spec.nodeName"],
  fact: z.string(),
  read: (pod) => {
    const value = field(field(pod, "spec"), "nodeName");
    return typeof value === "string" ? value : "";
  },
};

/** Which pod it is. */
export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The pod's namespace, name and UID. Name and UID are empty before an API server has given them. */
export const podIdentity: View<PodIdentity> = {
  name: "podIdentity",
  of: "pod",
  pace: "fast",
  doc: "The pod's namespace, name and UID.",
  paths: ["metadata.namespace", "metadata.name", "metadata.uid"],
  fact: z.object({ namespace: z.string(), name: z.string(), uid: z.string() }),
  read: (pod) => ({
    namespace: metadata(pod, "namespace") || "default",
    name: metadata(pod, "name"),
    uid: metadata(pod, "uid"),
  }),
};

function metadata(object: JsonObject, key: string): string {
  const value = field(field(object, "metadata"), key);
  return typeof value === "string" ? value : "";
}
