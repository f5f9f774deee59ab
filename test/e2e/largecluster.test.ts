import { afterAll, beforeAll, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { buildNode, createNodes } from "../controlplane/nodes.ts";
import type { Node, Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { type LoggedDecision, type RunningFunction, startOnNode } from "./function.ts";
import { e2e } from "./gate.ts";
import { extenderEntry, profiles, refused } from "./scheduling.ts";

const SECRET = "e2e-large-cluster-path-secret";
const POOL = "example.com/pool";
const NODES = 400;
const MINUTE = 60_000;
const policy = {
  configuration: {
    profiles: [
      {
        name: "refusing",
        plugins: [
          { name: "NodeLabel", args: { require: { [POOL]: ["general"] }, forbid: { "berth.dev/retiring": [] } } },
          { name: "NodeCost", args: { unpriced: "reject" } },
        ],
      },
    ],
    callers: [{ name: "cluster-a", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["refusing"] }],
  },
  secrets: { CLUSTER_A_PATH: SECRET },
};

/** A third of the nodes lacks the pool, a third is retiring, a third has no price. */
function nodeAt(index: number): Node {
  const labels = [{}, { [POOL]: "general", "berth.dev/retiring": "" }, { [POOL]: "general" }];
  return buildNode({ index, name: `node-${index}`, seed: 5, labels: labels[index % labels.length] ?? {} });
}

await e2e(`a pod that the policy lets on none of ${NODES} nodes`, (versions) => {
  let plane: ControlPlane;
  let served: RunningFunction;
  const pods = new Map<string, Pod>();
  const id = (version: string): string => version.replaceAll(".", "-");
  const callsFor = (name: string): LoggedDecision[] =>
    served.decisions().filter(({ pod }) => pod === `default/${name}`);

  beforeAll(async () => {
    plane = await startControlPlane();
    served = await startOnNode(plane, policy);
    await createNodes(
      plane.api,
      Array.from({ length: NODES }, (_, index) => nodeAt(index)),
    );
    await Promise.all(versions.map((version) => start(version, "all", { percentageOfNodesToScore: 100 })));
    await Promise.all(versions.map((version) => ask(version, "all")));
    // Nothing can be awaited: what is seen is that a minute passes and nobody asks.
    await new Promise((resolve) => setTimeout(resolve, MINUTE));
  }, 300_000);
  afterAll(() => plane?.stop());

  function start(version: string, name: string, fields: JsonObject) {
    const entry = extenderEntry(served, `${SECRET}/refusing`, { filterVerb: "filter", httpTimeout: "30s" });
    const profile = profiles([`${name}-${id(version)}`], { preemption: false });
    return startScheduler(plane, { version, config: { profiles: profile, extenders: [entry], ...fields } });
  }

  async function ask(version: string, name: string): Promise<void> {
    const of = `${name}-${id(version)}`;
    const pod = await plane.api.create<Pod>(buildPod({ name: of, schedulerName: of, cpu: "100m" }));
    pods.set(of, pod);
    await refused(plane, pod);
  }

  it.for(versions)("costs at most 3 filter calls in a minute with kube-scheduler %s", async (version, { annotate }) => {
    const calls = callsFor(`all-${id(version)}`);
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(3);
    await annotate(`${calls.length} filter calls in a minute`, "seen");
  });

  it.each(versions)("is told every reason and how many nodes have it by kube-scheduler %s", async (version) => {
    const pod = pods.get(`all-${id(version)}`);
    if (pod === undefined) throw new Error("there is no pod");
    const message = await refused(plane, pod);
    expect(message).toMatch(/^0\/400 nodes are available: /);
    expect(message).toContain("134 node(s) didn't have a label that the policy requires");
    expect(message).toContain("133 node(s) had a label that the policy forbids");
    expect(message).toContain("133 node(s) had no price in the facts of the fleet");
  });

  it.each(versions)(
    "is judged by kube-scheduler %s on all nodes with percentageOfNodesToScore 100, and on a sample without",
    async (version) => {
      await start(version, "sample", {});
      await ask(version, "sample");
      expect(callsFor(`all-${id(version)}`)[0]?.nodes).toBe(NODES);
      // 50 - 400/125 percent of them. Source: v1.37.2 pkg/scheduler/schedule_one.go, numFeasibleNodesToFind.
      expect(callsFor(`sample-${id(version)}`)[0]?.nodes).toBe(188);
    },
  );

  it.each(versions)(
    "is asked about again by kube-scheduler %s when anybody writes an annotation of any node",
    async (version) => {
      const before = callsFor(`all-${id(version)}`).length;
      const node = nodeAt(0);
      await plane.api.patch(node, { metadata: { annotations: { "example.com/touched": version } } });
      await eventually("the function is asked again", () => callsFor(`all-${id(version)}`).length > before);
    },
  );
});
