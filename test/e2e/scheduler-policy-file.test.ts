import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ExtenderCall, type SmallExtender, startSmallExtender } from "../../src/scheduler/extender-fixture.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { stays } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod, type PodOptions } from "../controlplane/pods.ts";
import { e2e } from "./gate.ts";
import {
  applyScheduler,
  argumentsOf,
  eventsOf,
  type RunningScheduler,
  SCHEDULER,
  startBerth,
  told,
} from "./scheduler.ts";
import { nextName, placed, plainNode } from "./scheduling.ts";

const SCRIPT = join(import.meta.dirname, "keep-ssd.sh");

/** The Policy of many posts on extenders, with the address of one that listens. */
function policyOf(urlPrefix: string, more: JsonObject = {}): JsonObject {
  return {
    kind: "Policy",
    apiVersion: "v1",
    predicates: [{ name: "HostName" }, { name: "MatchNodeSelector" }, { name: "PodFitsResources" }],
    priorities: [{ name: "LeastRequestedPriority", weight: 1 }],
    extenders: [
      {
        urlPrefix,
        filterVerb: "filter",
        prioritizeVerb: "prioritize",
        weight: 1,
        enableHttps: false,
        nodeCacheCapable: true,
        httpTimeout: 10_000_000_000,
        ...more,
      },
    ],
  };
}

/** Answers with what the script writes; prefers the nodes that come first in `liked`. */
async function answer({ path, body }: ExtenderCall, liked: readonly string[]) {
  if (path.endsWith("/prioritize")) {
    const names = body["NodeNames"] as readonly string[];
    return names.map((Host) => ({
      Host,
      Score: Math.max(0, 10 - liked.indexOf(Host) * 10) * Number(liked.includes(Host)),
    }));
  }
  if (path.endsWith("/bind")) return { Error: "" };
  const child = spawn("bash", [SCRIPT], { stdio: "pipe" });
  child.stdin.end(JSON.stringify(body));
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  return output;
}

await e2e("berth schedule with an old Policy file", () => {
  let plane: ControlPlane;
  let extender: SmallExtender;
  let scheduler: RunningScheduler | undefined;
  let liked: readonly string[] = [];
  const created: Pod[] = [];
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyScheduler(plane);
    await createNodes(plane.api, [plainNode("a-ssd", { disk: "fast" }), plainNode("b-ssd"), plainNode("c-hdd")]);
  });
  beforeEach(async () => {
    extender = await startSmallExtender((call) => answer(call, liked));
  });
  afterEach(async () => {
    await scheduler?.stop();
    await extender.stop();
    liked = [];
    for (const pod of created.splice(0)) await plane.api.remove(pod, { graceSeconds: 0 }).catch(() => undefined);
  });
  afterAll(() => plane?.stop());

  const start = async (policy: JsonObject): Promise<void> => {
    const file = join(plane.folder, "policy.cfg");
    await writeFile(file, JSON.stringify(policy));
    scheduler = await startBerth(plane, {
      name: `policy-${nextName()}`,
      args: ["--policy-file", file],
    });
  };
  const create = async (options: Omit<PodOptions, "name"> = {}): Promise<Pod> => {
    const pod = await plane.api.create(buildPod({ schedulerName: SCHEDULER, ...options, name: nextName() }));
    created.push(pod);
    return pod;
  };

  it("places pods by its predicates, its priorities and a Bash script as extender", async () => {
    await start(policyOf(`${extender.url}/api/scheduler`));
    const first = await create({ cpu: "4" });
    const one = await placed(plane, first);
    expect(["a-ssd", "b-ssd"]).toContain(one);
    expect(await placed(plane, await create({ cpu: "4" }))).toBe(one === "a-ssd" ? "b-ssd" : "a-ssd");
    expect(await placed(plane, await create({ spec: { nodeSelector: { disk: "fast" } } }))).toBe("a-ssd");
    const paths = new Set(extender.calls.map(({ path }) => path));
    expect([...paths].sort()).toEqual(["/api/scheduler/filter", "/api/scheduler/prioritize"]);
    expect(await stays("events of the pod", () => eventsOf(plane, first), 1_000)).toEqual({ Scheduled: 1 });
  });

  it("adds the extender's scores, ten times their weight, to its own", async () => {
    await start(policyOf(extender.url, { weight: 10 }));
    const [crowded, empty] = ["a-ssd", "b-ssd"];
    liked = [crowded as string];
    expect(await placed(plane, await create({ cpu: "3" }))).toBe(crowded);
    expect(await placed(plane, await create({ cpu: "3" }))).toBe(crowded);
    liked = [];
    expect(await placed(plane, await create({ cpu: "3" }))).toBe(empty);
  });

  it("tells the refusals of plugins and extender, counted together", async () => {
    await start(policyOf(extender.url));
    const pod = await create({ cpu: "100m", spec: { affinity: onlyNodes("c-hdd") } });
    const { message } = await told(plane, pod, "FailedScheduling");
    expect(message).toBe(
      "0/3 nodes are available: 1 node(s) had no SSD, 2 node(s) didn't match Pod's node affinity/selector.",
    );
  });

  it("fails a pod while an extender is away that may not be ignored, and places it when it may", async () => {
    const { url } = extender;
    await extender.stop();
    extender = await startSmallExtender((call) => answer(call, liked));
    await start(policyOf(url));
    const { message } = await told(plane, await create(), "FailedScheduling");
    expect(message).toContain(`extender at ${url} failed to filter`);
    await scheduler?.stop();
    await start(policyOf(url, { ignorable: true }));
    await placed(plane, await create());
  });

  it("lets the extender bind where it has a bindVerb", async () => {
    await start(policyOf(extender.url, { bindVerb: "bind" }));
    const pod = await create();
    await told(plane, pod, "Scheduled");
    const { uid = "", name } = pod.metadata;
    const call = extender.calls.find(({ path }) => path === "/bind");
    expect(call?.body).toMatchObject({ PodName: name, PodNamespace: "default", PodUID: uid });
    expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBeUndefined();
  });

  it("refuses a file with names that it does not know, all of them at once, with their lines", async () => {
    const file = join(plane.folder, "unknown.cfg");
    const lines = [
      '{"kind": "Policy", "apiVersion": "v1",',
      '"predicates": [{"name": "NoDiskConflict"}],',
      '"priorities": [{"name": "ImageLocalityPriority", "weight": 1}]}',
    ];
    await writeFile(file, lines.join("\n"));
    const args = await argumentsOf(plane, { name: "unknown", args: ["--policy-file", file] });
    const child = spawn(process.execPath, [join(import.meta.dirname, "../../src/cli/berth.js"), ...args]);
    const [complaint] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect(child.exitCode).toBe(1);
    expect(complaint).toContain(
      'unknown.cfg:2:25 predicates[0].name: "NoDiskConflict" is no predicate that is known here',
    );
    expect(complaint).toContain('unknown.cfg:3:25 priorities[0].name: "ImageLocalityPriority" is no priority');
  });
});

/** Node affinity to nodes by their names, as a DaemonSet writes it. */
function onlyNodes(name: string): JsonObject {
  const matchFields = [{ key: "metadata.name", operator: "In", values: [name] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } };
}
