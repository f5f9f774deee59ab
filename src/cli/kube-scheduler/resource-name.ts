/**
 * Tells whether kube-scheduler takes a name in `managedResources`: that of an extended resource (IsExtendedResourceName
 * and IsQualifiedName, k8s.io/kubernetes v1.37.2 pkg/apis/core/v1/helper).
 */
export function isExtendedResource(name: string): boolean {
  const [domain = "", resource = "", ...rest] = name.split("/");
  if (rest.length > 0 || resource === "" || name.includes("kubernetes.io/") || name.startsWith("requests."))
    return false;
  const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
  // The name is counted with `requests.` before it, as quotas write it.
  if (!new RegExp(`^${label}(\\.${label})*$`).test(domain) || domain.length > 253 - "requests.".length) return false;
  return resource.length <= 63 && /^[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$/.test(resource);
}
