/**
 * Plugins that older files name and kube-scheduler no longer has (k8s.io/kubernetes v1.37.2
 * pkg/scheduler/apis/config/validation and pkg/scheduler/framework/plugins/names).
 */
export const GONE_PLUGINS: readonly string[] = [
  "AzureDiskLimits",
  "CinderLimits",
  "EBSLimits",
  "GCEPDLimits",
  "SelectorSpread",
  "NodePreferAvoidPods",
  "ServiceAffinity",
  "NodeLabel",
  "RequestedToCapacityRatio",
  "NodeResourcesLeastAllocated",
  "NodeResourcesMostAllocated",
];
