import type { Ref } from "./objects.ts";

const clusterScoped = new Set([
  "APIService",
  "CertificateSigningRequest",
  "ClusterRole",
  "ClusterRoleBinding",
  "CSIDriver",
  "CSINode",
  "CustomResourceDefinition",
  "DeviceClass",
  "FlowSchema",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "Namespace",
  "Node",
  "NodeLedger",
  "PersistentVolume",
  "PriorityClass",
  "PriorityLevelConfiguration",
  "ResourceSlice",
  "RuntimeClass",
  "SelfSubjectAccessReview",
  "StorageClass",
  "SubjectAccessReview",
  "TokenReview",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
  "VolumeAttachment",
]);

/** The URL path of a collection: `/api/v1/namespaces/default/pods`, `/apis/apps/v1/deployments`. */
export function collectionPath(apiVersion: string, kind: string, namespace?: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = namespace === undefined || clusterScoped.has(kind) ? "" : `/namespaces/${namespace}`;
  return `${root}${place}/${plural(kind)}`;
}

/** The URL path of the collection that an object belongs to; its namespace defaults to `default`. */
export function collectionOf(ref: Ref): string {
  return collectionPath(ref.apiVersion, ref.kind, ref.metadata.namespace ?? "default");
}

/** The URL path of an object, or of a subresource of it. */
export function objectPath(ref: Ref, subresource?: string): string {
  const path = `${collectionOf(ref)}/${encodeURIComponent(ref.metadata.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

function plural(kind: string): string {
  const word = kind.toLowerCase();
  if (word === "endpoints") return word;
  if (/(s|x|ch)$/.test(word)) return `${word}es`;
  if (word.endsWith("y")) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}
