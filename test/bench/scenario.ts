import { stringify } from "yaml";
import { type NodeClass, nodeClasses } from "../controlplane/instances.ts";
import { buildNodes } from "../controlplane/nodes.ts";
import { buildPod } from "../controlplane/pods.ts";

/** The label by which the filter keeps three quarters of the nodes. */
export const POOL = "berth.dev/pool";

export const REQUIRED = { [POOL]: ["general", "batch", "web"] };

const LABELS = {
  instanceType: "node.kubernetes.io/instance-type",
  zone: "topology.kubernetes.io/zone",
  capacityType: "karpenter.sh/capacity-type",
} as const;

/** Hourly prices by instance type, zone and capacity type, one for each class of nodes that the builder makes. */
export const prices = nodeClasses.map((nodeClass, index) => ({
  match: priceLabels(nodeClass),
  perHour: Number((0.05 + index * 0.013).toFixed(4)),
}));

function priceLabels(nodeClass: NodeClass): Record<string, string> {
  return {
    [LABELS.instanceType]: nodeClass.instanceType,
    [LABELS.zone]: nodeClass.zone,
    [LABELS.capacityType]: nodeClass.capacityType,
  };
}

/** The policy for the Go extender. */
export const goPolicy = { require: REQUIRED, prices };

/** The same policy as berth.yaml. */
export const berthYaml = stringify({
  apiVersion: "berth.dev/v1alpha1",
  kind: "PolicyConfiguration",
  profiles: [{ name: "default", plugins: [{ name: "NodeLabel", args: { require: REQUIRED } }, { name: "NodeCost" }] }],
});

/** The same prices as facts.json. */
export const factsJson = JSON.stringify({ apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts", prices });

/**
 * The body of one call for this many realistic nodes, as kube-scheduler sends it: filter meets nodes of all pools,
 * prioritize only those that filter has kept.
 */
export function requestBody(verb: "filter" | "prioritize", nodeCount: number, bytesPerNode: number): Buffer {
  const pools = ["general", "batch", "web", verb === "filter" ? "retiring" : "general"];
  const nodes = buildNodes(nodeCount, { bytes: bytesPerNode, classes: 20 }).map((node, index) => ({
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, [POOL]: pools[index % 4] } },
  }));
  const items = nodes.map(({ apiVersion: _, kind: __, ...node }) => node);
  const pod = buildPod({ name: "checkout-api", cpu: "500m", memory: "1Gi" });
  return Buffer.from(JSON.stringify({ Pod: pod, Nodes: { metadata: {}, items }, NodeNames: null }));
}
