import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { TOKEN } from "./custom-plugin.ts";
import { type RunningFunction, startOnNode } from "./function.ts";
import { e2e } from "./gate.ts";
import { applyScheduler, type RunningScheduler, SCHEDULER, startBerth } from "./scheduler.ts";
import { nextName, placed, plainNode } from "./scheduling.ts";

const example = join(import.meta.dirname, "..", "..", "examples", "custom-plugin");
const ZONE = "topology.kubernetes.io/zone";

await e2e("berth schedule by the policy of a function", () => {
  let plane: ControlPlane;
  let fn: RunningFunction;
  let scheduler: RunningScheduler;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyScheduler(plane);
    await createNodes(plane.api, [
      plainNode("central", { [ZONE]: "eu-central-1b" }),
      plainNode("north", { [ZONE]: "eu-north-1a" }),
    ]);
    const configuration = parse(await readFile(join(example, "berth.yaml"), "utf8"));
    configuration.profiles[0].plugins[1].whenAway = "skip";
    fn = await startOnNode(plane, {
      configuration,
      secrets: { CLUSTER_A_TOKEN: TOKEN },
      plugins: join(example, "plugins.ts"),
    });
    const authority = join(plane.folder, "function-ca.crt");
    await writeFile(authority, plane.caPem);
    scheduler = await startBerth(plane, {
      name: "scheduler",
      args: ["--function", fn.url],
      env: { BERTH_FUNCTION_TOKEN: TOKEN, BERTH_FUNCTION_CA: authority, BERTH_FUNCTION_SECONDS: "1" },
    });
  });
  afterAll(() => plane?.stop());

  /** A pod that belongs near a partner, which only a plugin of the function knows to place. */
  const create = (): Promise<Pod> => {
    const name = nextName();
    const labels = { "example.com/partner": "acquirer", app: name };
    return plane.api.create(buildPod({ name, labels, schedulerName: SCHEDULER }));
  };
  const policyOf = async (pod: Pod) => (await plane.api.get<Pod>(pod)).metadata.annotations?.["berth.dev/policy"];

  it("asks about the plugin that only the function has, and says by which version it has placed a pod", async () => {
    const pods = await Promise.all(Array.from({ length: 6 }, create));
    expect(await Promise.all(pods.map((pod) => placed(plane, pod)))).toEqual(Array(6).fill("central"));
    expect(await policyOf(pods[0] as Pod)).toMatch(/^default@[0-9a-f]+$/);
  });

  it("goes on without the function, by the policy that it gave last", async () => {
    const before = await create();
    await placed(plane, before);
    await fn.stop();
    const pods = await Promise.all(Array.from({ length: 4 }, create));
    await Promise.all(pods.map((pod) => placed(plane, pod)));
    expect(await policyOf(pods[0] as Pod)).toBe(await policyOf(before));
    await eventually("it says so", () => scheduler.logs().includes("does not answer"));
    expect((await scheduler.get("/readyz")).status).toBe(200);
  });
});
