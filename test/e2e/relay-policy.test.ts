import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WAKE_ANNOTATION } from "../../src/binder/waking.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import { type Node, nodeRef, type Pod, priorityClass } from "../controlplane/objects.ts";
import { buildPod, type PodOptions } from "../controlplane/pods.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { openTransport } from "../controlplane/transport.ts";
import { allVerbs, applyInfra, type RunningBinder, startBinder } from "./binder.ts";
import { type FunctionPolicy, type RunningFunction, startOnNode } from "./function.ts";
import { e2e } from "./gate.ts";
import { nextName, placed, plainNode, profiles, refused } from "./scheduling.ts";
import { loggedScores } from "./scores.ts";

const TOKEN = "a-bearer-token-for-the-relay";
const POOL = "example.com/pool";

/** A function whose policy allows these pools and prefers what is cheap. */
function policy(pools: readonly string[]): FunctionPolicy {
  const plugins = [
    { name: "NodeLabel", args: { require: { [POOL]: [...pools] } } },
    { name: "NodeCost", weight: 2 },
  ];
  return {
    configuration: {
      profiles: [{ name: "fleet", plugins }],
      callers: [{ name: "cluster-a", credentials: [{ bearer: "RELAY_TOKEN" }], profiles: ["fleet"] }],
    },
    facts: {
      prices: [
        { match: { [POOL]: "general" }, perHour: 0.5 },
        { match: {}, perHour: 1 },
      ],
    },
    secrets: { RELAY_TOKEN: TOKEN },
  };
}

/** Only who may ask: the profile itself comes from the function. */
const configuration = {
  callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["fleet"] }],
};

/** Such pods may go nowhere but to the node that the first policy does not allow. */
const onForeign: JsonObject = { nodeSelector: { "kubernetes.io/hostname": "foreign" } };

await e2e("a binder whose policy comes from a function", (versions) => {
  let plane: ControlPlane;
  let binder: RunningBinder;
  let running: RunningFunction;
  const start = (port?: number) =>
    startBinder(plane, {
      name: "relay",
      ...(port !== undefined && { port }),
      configuration,
      env: {
        BERTH_FUNCTION_URL: running.url,
        BERTH_FUNCTION_PROFILES: "fleet",
        BERTH_FUNCTION_TOKEN: TOKEN,
        BERTH_FUNCTION_CA: join(plane.folder, "relay.ca"),
        BERTH_POLICY_CACHE: join(plane.folder, "policies"),
      },
    });
  /** As a deployment does: another function answers where the old one did. */
  const deploy = async (next: FunctionPolicy): Promise<void> => {
    const port = Number(new URL(running.url).port);
    await running.stop();
    running = await startOnNode(plane, next, undefined, port);
  };
  /** The policy that the function has now. */
  const there = async (): Promise<string | undefined> => {
    const transport = openTransport({ url: running.url, caPem: plane.caPem, token: TOKEN });
    const { text } = await transport.send({ method: "GET", path: "/fleet" });
    transport.close();
    return `fleet@${JSON.parse(text).version}`;
  };
  const metric = async (name: string): Promise<string | undefined> =>
    (await binder.get("/metrics")).text.split("\n").find((line) => line.startsWith(`${name}{profile="fleet"`));
  const inForce = async (): Promise<string> =>
    `fleet@${/version="([^"]+)"/.exec((await metric("berth_policy_info")) ?? "")?.[1]}`;
  const create = (options: Partial<PodOptions> = {}): Promise<Pod> =>
    plane.api.create<Pod>(buildPod({ name: nextName(), cpu: "1", memory: "1Gi", ...options }));
  const decidedBy = async (pod: Pod): Promise<string | undefined> =>
    (await plane.api.get<Pod>(pod)).metadata.annotations?.["berth.dev/policy"];

  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    running = await startOnNode(plane, policy(["general"]));
    binder = await start();
    await createNodes(plane.api, [
      plainNode("busy", { [POOL]: "general" }),
      plainNode("idle", { [POOL]: "general" }),
      plainNode("foreign", { [POOL]: "gpu" }),
    ]);
    await plane.api.create(priorityClass("low", 1));
    await plane.api.create(priorityClass("high", 1_000));
  });
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    let scheduler: Scheduler;
    beforeAll(async () => {
      await deploy(policy(["general"]));
      await eventually("the policy is in force", async () => (await inForce()) === (await there()));
      const entry = { ...allVerbs(binder, "fleet"), managedResources: [] };
      const config = { extenders: [entry], profiles: profiles(["default-scheduler"]) };
      scheduler = await startScheduler(plane, { version, verbosity: 10, config });
      await plane.api.create(buildPod({ name: "resident", cpu: "6", memory: "24Gi", nodeName: "busy" }));
    });
    afterAll(async () => {
      await scheduler?.stop();
      await plane.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
    });

    it("places pods as the function's policy says, and names its version in the Binding", async () => {
      const pod = await create();
      expect(["busy", "idle"]).toContain(await placed(plane, pod));
      expect(await decidedBy(pod)).toBe(await inForce());
      expect(await refused(plane, await create({ spec: onForeign }))).toContain(
        "1 node(s) didn't have a label that the policy requires",
      );
      expect(running.decisions()).toEqual([]);
    });

    it("leaves kube-scheduler's own scores as they are: it scores busy nodes as busy", async () => {
      const pod = await create();
      await placed(plane, pod);
      const { plugins } = loggedScores(scheduler.logs(), `default/${pod.metadata.name}`);
      expect(plugins["busy"]?.["NodeResourcesFit"]).toBeLessThan(plugins["idle"]?.["NodeResourcesFit"] ?? 0);
    });

    it("evicts nobody for a pod that the policy would refuse all the same", async () => {
      const low = await create({ cpu: "6", priorityClassName: "low", nodeName: "foreign" });
      const high = await create({ cpu: "6", priorityClassName: "high", spec: onForeign });
      await refused(plane, high);
      await eventually("preempt was asked", () => /"verb":"preempt".*"helped":0/.test(binder.logs()));
      expect((await plane.api.get<Pod>(low)).metadata).toMatchObject({ uid: low.metadata.uid });
      expect((await plane.api.get<Pod>(low)).metadata.deletionTimestamp).toBeUndefined();
      await plane.api.remove(high);
      await plane.api.remove(low);
    });

    it("has a policy that was changed at the function in force, and wakes the pod that it lets pass", async () => {
      const before = await inForce();
      const pod = await create({ spec: onForeign });
      await refused(plane, pod);
      await deploy(policy(["general", "gpu"]));
      expect(await placed(plane, pod)).toBe("foreign");
      expect(await decidedBy(pod)).toBe(await there());
      expect(await there()).not.toBe(before);
      expect((await plane.api.get<Node>(nodeRef("foreign"))).metadata.annotations).toHaveProperty([WAKE_ANNOTATION]);
    });

    it("takes over its own files as they change, beside the function's policy, and stays with them while they have faults", async () => {
      const file = join(plane.folder, "relay.yaml");
      const write = (more: object): Promise<void> =>
        writeFile(file, JSON.stringify({ apiVersion: "berth.dev/v1alpha1", kind: "PolicyConfiguration", ...more }));
      const own = { profiles: [{ name: "own", plugins: [{ name: "Random" }] }], ...configuration };
      const shows = (line: RegExp) =>
        eventually(`${line} is told`, async () => line.test((await binder.get("/metrics")).text));
      await write(own);
      await shows(/berth_policy_info\{profile="own",version="\w+",source="files"\} 1/);
      await write({ ...own, profiles: "none" });
      await shows(/berth_policy_problem\{profile="own"\} 1/);
      expect(binder.logs()).toContain(`${file}:1:`);
      await write(configuration);
      await shows(/^(?![\s\S]*profile="own")/);
      expect(await metric("berth_policy_problem")).toMatch(/ 0$/);
    });

    it("goes on with the policy that it has while the function is away, and after a restart of its own", async () => {
      const kept = await inForce();
      await running.stop();
      await eventually("the binder has noticed", async () => (await metric("berth_policy_problem"))?.endsWith(" 1"));
      const one = await create();
      await placed(plane, one);
      await binder.stop();
      binder = await start(Number(new URL(binder.url).port));
      const other = await create({ spec: onForeign });
      await placed(plane, other);
      expect([await decidedBy(one), await decidedBy(other), await inForce()]).toEqual([kept, kept, kept]);
      expect(binder.logs()).toContain('"from":"disk"');
      expect(binder.logs()).not.toContain(TOKEN);
    });
  });
});
