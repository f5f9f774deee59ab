import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlacedPod } from "../placement/model.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import { testNode, testPod } from "./scheduler-fixture.ts";

function setUp() {
  const problems: string[] = [];
  const cluster = createCluster((pod, problem) => problems.push(`${pod.name}: ${problem}`));
  cluster.putNode(testNode("one"));
  return { cluster, problems, cpuOn: (node: string) => cluster.get(node)?.usage.requested["cpu"] ?? 0 };
}

describe("the cluster", () => {
  it("counts an assumed pod at once, and once when the watch has shown it", () => {
    const { cluster, cpuOn } = setUp();
    cluster.assume(testPod("a"), "one");
    expect(cpuOn("one")).toBe(1_000);
    cluster.putPod(testPod("a"));
    expect(cpuOn("one")).toBe(1_000);
    cluster.putPod(testPod("a", { node: "one" }));
    expect(cpuOn("one")).toBe(1_000);
    expect(cluster.podOn("a")?.assumed).toBe(false);
    cluster.forget("a");
    expect(cpuOn("one")).toBe(1_000);
  });

  it("takes an assumption back, and moves a pod that turns up elsewhere", () => {
    const { cluster, cpuOn } = setUp();
    cluster.putNode(testNode("two"));
    cluster.assume(testPod("a"), "one");
    cluster.forget("a");
    expect(cpuOn("one")).toBe(0);
    cluster.assume(testPod("a"), "one");
    cluster.putPod(testPod("a", { node: "two" }));
    expect([cpuOn("one"), cpuOn("two")]).toEqual([0, 1_000]);
  });

  it("tells when a pod has freed something: gone, ended, or asking for less", () => {
    const { cluster } = setUp();
    cluster.putPod(testPod("a", { node: "one" }));
    expect(cluster.putPod(testPod("a", { node: "one" }))).toBe(false);
    expect(cluster.putPod(testPod("a", { node: "one", cpu: "500m" }))).toBe(true);
    expect(cluster.dropPod("a")).toBe(true);
    expect(cluster.dropPod("a")).toBe(false);
    cluster.putPod(testPod("b", { node: "one" }));
    expect(cluster.putPod({ ...testPod("b", { node: "one" }), terminal: true })).toBe(true);
  });

  it("knows pods of a node before the node, and after it has gone and come again", () => {
    const { cluster, cpuOn } = setUp();
    cluster.putPod(testPod("a", { node: "late" }));
    expect(cluster.nodes().map(({ name }) => name)).toEqual(["one"]);
    cluster.putNode(testNode("late"));
    expect(cpuOn("late")).toBe(1_000);
    cluster.dropNode("late");
    cluster.putNode(testNode("late"));
    expect(cpuOn("late")).toBe(1_000);
  });

  it("lists nodes zone by zone in turns", () => {
    const { cluster } = setUp();
    cluster.putNode(testNode("two"));
    cluster.putNode(testNode("three", { zone: "b" }));
    cluster.putNode(testNode("four", { zone: "c" }));
    expect(cluster.nodes().map(({ name }) => name)).toEqual(["one", "three", "four", "two"]);
  });

  it("counts a pod whose requests cannot be read as one that takes nothing, and says so", () => {
    const { cluster, problems, cpuOn } = setUp();
    cluster.putPod(testPod("odd", { node: "one", cpu: "much" }));
    expect(cpuOn("one")).toBe(0);
    expect(problems).toEqual([expect.stringContaining("odd: spec.containers[0].resources.requests.cpu")]);
  });

  it("has sums of exactly the pods that are there, whatever happens in whatever order", () => {
    const happenings: readonly ((cluster: Cluster, pod: PlacedPod, node: string) => void)[] = [
      (cluster, pod, node) => cluster.assume(pod, node),
      (cluster, pod) => cluster.forget(pod.uid),
      (cluster, pod, node) => cluster.putPod(testPod(pod.name, { node })),
      (cluster, pod) => cluster.dropPod(pod.uid),
      (cluster, _, node) => cluster.putNode(testNode(node)),
      (cluster, _, node) => cluster.dropNode(node),
    ];
    const step = fc.record({
      happening: fc.constantFrom(...happenings),
      pod: fc.constantFrom("a", "b", "c").map((name) => testPod(name, { cpu: name === "a" ? "1" : "2" })),
      node: fc.constantFrom("one", "two", "three"),
    });
    const steps = fc.property(fc.array(step, { maxLength: 40 }), (all) => {
      const cluster = createCluster(() => undefined);
      for (const { happening, pod, node } of all) happening(cluster, pod, node);
      for (const name of ["one", "two", "three"]) expect(sumsOf(cluster, name)).toEqual(countedOn(cluster, name));
      const slots = cluster.nodes().map(({ slot }) => slot);
      expect(new Set(slots).size).toBe(slots.length);
    });
    void fc.assert(steps);
  });
});

function sumsOf(cluster: Cluster, node: string) {
  const { pods = 0, requested = {} } = cluster.get(node)?.usage ?? {};
  return { pods, cpu: requested["cpu"] ?? 0 };
}

function countedOn(cluster: Cluster, node: string) {
  const pods = [...(cluster.get(node)?.pods.values() ?? [])];
  return { pods: pods.length, cpu: pods.reduce((sum, { usage }) => sum + (usage.requested["cpu"] ?? 0), 0) };
}
