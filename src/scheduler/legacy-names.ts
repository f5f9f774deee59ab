/** What a name of the Policy file stands for: a plugin's filter. */
export interface Predicate {
  readonly plugins: readonly string[];
}

/** What a name of the Policy file stands for: a plugin's score. */
export interface Priority {
  readonly plugin: string;
  readonly args?: unknown;
}

/**
 * Predicates by their old names (`pkg/scheduler/framework/plugins/legacy_registry.go`, v1.22), of those whose plugin
 * exists here.
 */
export const PREDICATES: Readonly<Record<string, Predicate>> = {
  HostName: { plugins: ["NodeName"] },
  MatchNodeSelector: { plugins: ["NodeAffinity"] },
  PodFitsResources: { plugins: ["NodeResourcesFit"] },
  PodFitsHostPorts: { plugins: ["NodePorts"] },
  PodFitsPorts: { plugins: ["NodePorts"] },
  GeneralPredicates: { plugins: ["NodeName", "NodePorts", "NodeAffinity", "NodeResourcesFit"] },
  PodToleratesNodeTaints: { plugins: ["TaintToleration"] },
  CheckNodeUnschedulable: { plugins: ["NodeUnschedulable"] },
};

/** What kube-scheduler asked whether a file listed it or not. */
export const MANDATORY_PREDICATES: readonly string[] = ["CheckNodeUnschedulable", "PodToleratesNodeTaints"];

/** What a file without `predicates` stands for. */
export const DEFAULT_PREDICATES: readonly string[] = ["GeneralPredicates"];

/** Priorities by their old names, as {@link PREDICATES}. */
export const PRIORITIES: Readonly<Record<string, Priority>> = {
  LeastRequestedPriority: { plugin: "NodeResourcesFit", args: { scoringStrategy: { type: "LeastAllocated" } } },
  MostRequestedPriority: { plugin: "NodeResourcesFit", args: { scoringStrategy: { type: "MostAllocated" } } },
  BalancedResourceAllocation: { plugin: "NodeResourcesBalancedAllocation" },
  NodeAffinityPriority: { plugin: "NodeAffinity" },
  TaintTolerationPriority: { plugin: "TaintToleration" },
};

/** What a file without `priorities` stands for, each with weight 1. */
export const DEFAULT_PRIORITIES: readonly string[] = [
  "LeastRequestedPriority",
  "BalancedResourceAllocation",
  "NodeAffinityPriority",
  "TaintTolerationPriority",
];

/** In this order kube-scheduler's plugins judge. */
export const FILTER_ORDER: readonly string[] = [
  "NodeName",
  "NodeUnschedulable",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
];
