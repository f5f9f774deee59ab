import { isObject, type Json, type JsonObject } from "../../src/protocol/json.ts";
import type { ManagedFields } from "./objects.ts";

/** Who wrote what of an object, and when. */
export interface Claim {
  readonly manager: string;
  readonly time: string;
  readonly subresource?: string;
  /** A part of the object, from its root. */
  readonly fields: JsonObject;
}

/** The managedFields entry for a claim, in the format of structured-merge-diff's FieldsV1 (k8s.io/apimachinery v0.37.2). */
export function managedFields(claim: Claim): ManagedFields {
  const { manager, time, subresource, fields } = claim;
  const entry = {
    manager,
    operation: "Update",
    apiVersion: "v1",
    time,
    fieldsType: "FieldsV1",
    fieldsV1: owned(fields),
  };
  return subresource === undefined ? entry : { ...entry, subresource };
}

/** Lists of a node that are merged by a key; any other list is owned whole. */
const listKeys: Readonly<Record<string, readonly string[]>> = {
  conditions: ["type"],
  addresses: ["type"],
  taints: [],
};

/** Maps that are written whole when an object is made, so that the map itself is owned as well. */
const ownedMaps = new Set(["annotations", "labels", "allocatable", "capacity", "conditions", "addresses"]);

function owned(fields: JsonObject): JsonObject {
  const set: Record<string, Json> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const inner = ownedValue(key, value);
    set[`f:${key}`] = ownedMaps.has(key) ? { ".": {}, ...inner } : inner;
  }
  return set;
}

function ownedValue(key: string, value: Json): JsonObject {
  if (isObject(value)) return owned(value);
  const keys = listKeys[key] ?? [];
  if (!Array.isArray(value) || keys.length === 0) return {};
  const items = value.filter(isObject);
  return Object.fromEntries(
    items.map((item) => {
      const name = Object.fromEntries(keys.map((part) => [part, item[part]]));
      return [`k:${JSON.stringify(name)}`, { ".": {}, ...owned(item) }];
    }),
  );
}

/** What of a node its writers own. */
export interface OwnedNode {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly status: JsonObject;
}

/** managedFields of a node as kubelet, Karpenter, the cloud's and the cluster's controller manager leave them. */
export function nodeOwners({ labels, annotations, status }: OwnedNode): ManagedFields[] {
  const [registered, ready, heartbeat] = ["2026-03-02T08:14:07Z", "2026-03-02T08:14:39Z", "2026-03-09T15:41:22Z"];
  const isKarpenters = (key: string): boolean => key.startsWith("karpenter");
  const isControllers = (key: string): boolean => key === "node.alpha.kubernetes.io/ttl";
  const isKubelets = (key: string): boolean => !isKarpenters(key) && !isControllers(key);
  const metadata = (wanted: (key: string) => boolean): JsonObject => ({
    metadata: { annotations: part(annotations, wanted), labels: part(labels, wanted) },
  });
  const { addresses, conditions, images } = status;
  // A kubelet owns by its updates what changed after the registration.
  const changing = { "ephemeral-storage": "" };
  const heartbeats = (Array.isArray(conditions) ? conditions : [])
    .filter(isObject)
    .map(({ type, status, ...rest }) => (type === "Ready" ? { type, status, ...rest } : { type, ...heartbeatOnly }));
  const providerID = { spec: { providerID: "" } };
  const ttl = { metadata: { annotations: part(annotations, isControllers) } };
  const kubelets = { status: { allocatable: changing, conditions: heartbeats, images, nodeInfo: { bootID: "" } } };
  return [
    managedFields({ manager: "kubelet", time: registered, fields: { ...metadata(isKubelets), ...providerID } }),
    managedFields({ manager: "karpenter", time: registered, fields: metadata(isKarpenters) }),
    managedFields({
      manager: "aws-cloud-controller-manager",
      time: registered,
      subresource: "status",
      fields: { status: { addresses } },
    }),
    managedFields({ manager: "kube-controller-manager", time: ready, fields: ttl }),
    managedFields({ manager: "kubelet", time: heartbeat, subresource: "status", fields: kubelets }),
  ];
}

const heartbeatOnly = { lastHeartbeatTime: "" };

function part(map: Readonly<Record<string, string>>, wanted: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([key]) => wanted(key)));
}
