/** A kind of object of the Kubernetes API, by the names that its paths have. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export const PODS: Resource = { group: "", version: "v1", plural: "pods" };
export const NODES: Resource = { group: "", version: "v1", plural: "nodes" };
export const CONFIG_MAPS: Resource = { group: "", version: "v1", plural: "configmaps" };
export const POD_DISRUPTION_BUDGETS: Resource = { group: "policy", version: "v1", plural: "poddisruptionbudgets" };
export const LEASES: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases" };
export const EVENTS: Resource = { group: "events.k8s.io", version: "v1", plural: "events" };
/** The ledgers of infra/crd/nodeledgers.yaml, one for each node and named like it. */
export const NODE_LEDGERS: Resource = { group: "berth.dev", version: "v1alpha1", plural: "nodeledgers" };

/** The name as kubectl and RBAC write it: `pods`, `leases.coordination.k8s.io`. */
export function resourceName({ group, plural }: Resource): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** The path of all objects of a resource, or of those in one namespace. */
export function collectionPath({ group, version, plural }: Resource, namespace?: string): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`}/${plural}`;
}

/** What names one object among those of its resource; without a namespace, an object of the cluster. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

/** The path of one object, or of a subresource of it such as `status` or `binding`. */
export function objectPath(resource: Resource, { namespace, name }: ObjectName, subresource?: string): string {
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
