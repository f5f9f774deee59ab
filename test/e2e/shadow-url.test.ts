import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import { buildPod } from "../controlplane/pods.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, applyInfra, type RunningBinder, startBinder } from "./binder.ts";
import { type RunningFunction, startOnNode } from "./function.ts";
import { nextName, placed, plainNode } from "./scheduling.ts";

let plane: ControlPlane;
let preview: RunningFunction;
let binder: RunningBinder;

/** A function whose only policy prefers one pool to the other; each deployment has a token of its own. */
function deploy(preferred: readonly string[], token: string): Promise<RunningFunction> {
  return startOnNode(plane, {
    configuration: {
      profiles: [{ name: "default", plugins: [{ name: "NodeLabel", args: { prefer: { pool: preferred } } }] }],
      callers: [{ name: "binder", credentials: [{ bearer: "TOKEN" }], profiles: ["default"] }],
    },
    secrets: { TOKEN: token },
  });
}

beforeAll(async () => {
  await requirePrograms(controlPlanePrograms([apiServerVersion]));
  plane = await startControlPlane();
  await applyInfra(plane);
  await createNodes(plane.api, [plainNode("blue", { pool: "blue" }), plainNode("green", { pool: "green" })]);
  const tokens = { live: "the-token-of-the-live-deployment-1", preview: "the-token-of-the-preview-deployment" };
  const live = await deploy(["blue", "green"], tokens.live);
  preview = await deploy(["green", "blue"], tokens.preview);
  const ca = join(plane.folder, "functions.crt");
  await writeFile(ca, plane.caPem);
  binder = await startBinder(plane, {
    name: "previewed",
    configuration: {
      profiles: [{ name: "own", plugins: [] }],
      callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["default"] }],
    },
    env: {
      BERTH_FUNCTION_URL: live.url,
      BERTH_FUNCTION_TOKEN: tokens.live,
      BERTH_FUNCTION_CA: ca,
      BERTH_FUNCTION_PROFILES: "default",
      BERTH_SHADOW_URL: preview.url,
      BERTH_SHADOW_TOKEN: tokens.preview,
    },
  });
  const extender = { ...allVerbs(binder, "default"), managedResources: undefined, weight: 100 };
  await startScheduler(plane, { version: apiServerVersion, config: { extenders: [extender] } });
});
afterAll(() => plane?.stop());

const differences = async () =>
  Number(
    /^berth_shadow_differences_total\{profile="default",kind="order",plugin="NodeLabel"\} (\d+)$/m.exec(
      (await binder.get("/metrics")).text,
    )?.[1] ?? 0,
  );

describe("The policy of a preview deployment in the shadow of the live one", () => {
  test("is found to prefer another node, while pods go where the live one says", async () => {
    expect(await placed(plane, await plane.api.create(buildPod({ name: nextName() })))).toBe("blue");
    await eventually("the difference is counted", async () => (await differences()) > 0);
  });

  test("takes no pod along when its deployment goes away", async () => {
    await preview.stop();
    const before = await differences();
    for (let pod = 0; pod < 3; pod++) {
      expect(await placed(plane, await plane.api.create(buildPod({ name: nextName() })))).toBe("blue");
    }
    await eventually("the policy that came before is still tried", async () => (await differences()) > before);
  });
});
