import { beforeAll, describe, expect, it } from "vitest";
import { fleetLookup } from "../policy/lookup.ts";
import type { Policy } from "../policy/policy.ts";
import { type ChooserOptions, createChooser } from "./choose.ts";
import { createCluster } from "./cluster.ts";
import { defaultPolicy, noFacts } from "./policies.ts";
import { seededRandom } from "./sampling.ts";
import { testNode, testPod } from "./scheduler-fixture.ts";

describe("choosing a node", () => {
  let policy: Policy;
  beforeAll(async () => {
    policy = (await defaultPolicy(false)).policy;
  });

  const setUp = (options: Partial<ChooserOptions> = {}) => {
    const cluster = createCluster(() => undefined);
    const choose = createChooser(policy, {
      around: fleetLookup(noFacts()),
      now: () => 0,
      nodes: cluster.nodes,
      percentage: 0,
      random: seededRandom(1),
      unjudged: () => undefined,
      barred: () => undefined,
      devices: () => ({ generation: 0, devices: {} }),
      ...options,
    });
    return { cluster, choose };
  };

  it("sees what was just placed: equal pods spread over equal nodes", async () => {
    const { cluster, choose } = setUp();
    for (const name of ["one", "two", "three", "four"]) cluster.putNode(testNode(name));
    const chosen = new Set<string>();
    for (const name of ["a", "b", "c", "d"]) {
      const choice = await choose(testPod(name));
      if (choice.kind !== "node") throw new Error(choice.message);
      cluster.assume(testPod(name), choice.node.name);
      chosen.add(choice.node.name);
    }
    expect([...chosen].sort()).toEqual(["four", "one", "three", "two"]);
  });

  it("never goes by a verdict from before a node or a pod on it has changed", async () => {
    const { cluster, choose } = setUp();
    cluster.putNode(testNode("one", { cpu: "1" }));
    expect(await choose(testPod("a"))).toMatchObject({ kind: "node" });
    cluster.assume(testPod("a"), "one");
    expect(await choose(testPod("b"))).toMatchObject({
      kind: "unfit",
      message: "0/1 nodes are available: 1 Insufficient cpu.",
    });
    cluster.putNode(testNode("one", { cpu: "2" }));
    expect(await choose(testPod("b"))).toMatchObject({ kind: "node" });
    cluster.dropNode("one");
    cluster.dropPod("a");
    cluster.putNode(testNode("other", { cpu: "1" }));
    expect(await choose(testPod("b"))).toMatchObject({ kind: "node", node: { name: "other" } });
  });

  it("does not take one pod for another of the same size that asks for another node", async () => {
    const { cluster, choose } = setUp();
    for (const name of ["one", "two"]) cluster.putNode(testNode(name));
    const on = (name: string) =>
      testPod(`on-${name}`, { spec: { nodeSelector: { "topology.kubernetes.io/zone": name } } });
    cluster.putNode(testNode("three", { zone: "b" }));
    expect(await choose(on("b"))).toMatchObject({ kind: "node", node: { name: "three" } });
    expect(await choose(on("c"))).toMatchObject({ kind: "unfit" });
    expect(await choose(on("b"))).toMatchObject({ kind: "node", node: { name: "three" } });
  });

  it("looks at no more nodes than a sample needs, and goes on from there the next time", async () => {
    const { cluster, choose } = setUp();
    for (let index = 0; index < 250; index++) cluster.putNode(testNode(`node-${index}`));
    const chosen = new Set<string>();
    for (let index = 0; index < 5; index++) {
      const choice = await choose(testPod(`pod-${index}`));
      expect(choice).toMatchObject({ kind: "node", fitting: 120 });
      if (choice.kind === "node") chosen.add(choice.node.name);
    }
    expect(chosen.size).toBe(5);
  });

  it("says that there are no nodes instead of failing", async () => {
    const { choose } = setUp();
    expect(await choose(testPod("a"))).toMatchObject({ kind: "unfit", message: "no nodes available to schedule pods" });
  });

  it("says so too when the last node goes while the function is asked, and goes on once there is one again", async () => {
    const { cluster, choose } = setUp({
      withRows: async () => {
        cluster.dropNode("gone");
        return policy;
      },
    });
    cluster.putNode(testNode("gone"));
    expect(await choose(testPod("a"))).toMatchObject({ kind: "unfit", message: "no nodes available to schedule pods" });
    cluster.putNode(testNode("one"));
    expect(await choose(testPod("a"))).toMatchObject({ kind: "node", node: { name: "one" } });
  });

  it("says which field of a pod it cannot read", async () => {
    const { cluster, choose } = setUp();
    cluster.putNode(testNode("one"));
    expect(await choose(testPod("a", { cpu: "much" }))).toMatchObject({
      kind: "fault",
      message: expect.stringContaining("spec.containers[0].resources.requests.cpu"),
    });
  });

  it("asks extenders about the nodes that fit, and adds their scores", async () => {
    const refusal = { plugin: "extender", reason: "not this one", unresolvable: false };
    const { cluster, choose } = setUp({
      others: {
        filter: async (_, nodes) => ({ kept: nodes.slice(1), refused: new Map([["one", refusal]]) }),
        score: async () => new Map([["three", 1_000]]),
      },
    });
    for (const name of ["one", "two", "three"]) cluster.putNode(testNode(name));
    expect(await choose(testPod("a"))).toMatchObject({ kind: "node", node: { name: "three" }, fitting: 2 });
  });
});
