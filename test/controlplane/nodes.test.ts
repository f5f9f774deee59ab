import { describe, expect, it } from "vitest";
import { nodeClasses } from "./instances.ts";
import { buildNode, buildNodes, jsonLength } from "./nodes.ts";
import type { Node } from "./objects.ts";

const classOf = ({ metadata }: Node): string => {
  const { labels = {} } = metadata;
  const keys = ["node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "karpenter.sh/capacity-type"];
  return keys.map((key) => labels[key]).join(" ");
};

describe("generated nodes", () => {
  it("are the same for the same seed and others for another", () => {
    expect(buildNode({ seed: 5, index: 3 })).toEqual(buildNode({ seed: 5, index: 3 }));
    expect(buildNode({ seed: 6, index: 3 })).not.toEqual(buildNode({ seed: 5, index: 3 }));
  });

  it.each([13_500, 16_500])("are about as long as asked, %i bytes", (bytes) => {
    for (const node of buildNodes(50, { bytes })) expect(Math.abs(jsonLength(node) - bytes)).toBeLessThan(250);
  });

  it.each([1, 20, 72])("have as many classes as asked, %i", (classes) => {
    expect(new Set(buildNodes(200, { classes }).map(classOf)).size).toBe(classes);
  });

  it("have names, uids and addresses of their own, a thousand of them", () => {
    const nodes = buildNodes(1_000, { images: 0 });
    expect(new Set(nodes.map(({ metadata }) => metadata.name)).size).toBe(1_000);
    expect(new Set(nodes.map(({ metadata }) => metadata.uid)).size).toBe(1_000);
    expect(new Set(nodes.map(({ status }) => JSON.stringify(status["addresses"]))).size).toBe(1_000);
  });

  it("take labels, taints and allocatable as given", () => {
    const taint = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
    const node = buildNode({ labels: { team: "a" }, taints: [taint], allocatable: { cpu: "8" }, unschedulable: true });
    expect(node.metadata.labels).toMatchObject({ team: "a", "kubernetes.io/os": "linux" });
    expect(node.spec).toMatchObject({ taints: [taint], unschedulable: true });
    expect(node.status.allocatable).toMatchObject({ cpu: "8", "ephemeral-storage": "95491281146" });
  });

  it("refuse a number of classes that there are not", () => {
    expect(() => buildNode({ classes: nodeClasses.length + 1 })).toThrow("classes: 1 to 72, not 73");
  });
});
