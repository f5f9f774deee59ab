import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import { buildPod } from "../controlplane/pods.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { applyInfra, type RunningBinder, startBinder } from "./binder.ts";
import { nextName, placed, plainNode } from "./scheduling.ts";

const run = promisify(execFile);
const berth = join(import.meta.dirname, "..", "..", "src/cli/berth.js");

let plane: ControlPlane;
let binder: RunningBinder;

const prefers = (name: string, values: readonly string[]) => ({
  name,
  plugins: [{ name: "NodeLabel", args: { prefer: { pool: values } } }],
});

beforeAll(async () => {
  await requirePrograms(controlPlanePrograms([apiServerVersion]));
  plane = await startControlPlane();
  await applyInfra(plane);
  await createNodes(plane.api, [plainNode("blue", { pool: "blue" }), plainNode("green", { pool: "green" })]);
  binder = await startBinder(plane, {
    name: "shadowed",
    configuration: {
      profiles: [prefers("default", ["blue", "green"]), prefers("trial", ["green", "blue"])],
      callers: [
        { name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["default", "trial"] },
      ],
    },
    env: { BERTH_SHADOW_PROFILE: "default=trial" },
  });
  const extender = {
    urlPrefix: `${binder.url}/default`,
    enableHTTPS: true,
    tlsConfig: binder.tlsConfig,
    filterVerb: "filter",
    prioritizeVerb: "prioritize",
    preemptVerb: "preempt",
    bindVerb: "bind",
    weight: 100,
    nodeCacheCapable: true,
  };
  await startScheduler(plane, { version: apiServerVersion, config: { extenders: [extender] } });
});
afterAll(() => plane?.stop());

/** The command's exit code and what it says, with kube-scheduler's certificate or with none. */
async function shadow(...more: readonly string[]) {
  const { stdout } = await run(process.execPath, [berth, "shadow", binder.url, ...more], {
    env: { ...process.env, NO_COLOR: "1" },
  });
  return stdout;
}

async function credentials(): Promise<readonly string[]> {
  const files = await Promise.all(
    (["ca", "cert", "key"] as const).map(async (name) => {
      const file = join(plane.folder, `shadow.${name}`);
      await writeFile(file, Buffer.from(String(binder.tlsConfig[`${name}Data`]), "base64"), { mode: 0o600 });
      return [`--${name}`, file];
    }),
  );
  return files.flat();
}

describe("A policy tried in the shadow on live traffic", () => {
  test("moves no pod, and berth shadow shows what it would have done and why", async () => {
    const pods = await Promise.all([1, 2, 3].map(() => plane.api.create(buildPod({ name: nextName() }))));
    for (const pod of pods) expect(await placed(plane, pod)).toBe("blue");
    const access = await credentials();
    const table = await eventually("a difference is found", async (saw) => {
      const text = await shadow(...access);
      saw(text);
      return text.includes("order") && text;
    });
    expect(table).toMatch(/default@[0-9a-f]{12}: best blue/);
    expect(table).toMatch(/trial@[0-9a-f]{12}: best green/);
    const { differences } = JSON.parse(await shadow(...access, "--output", "json"));
    expect(differences[0]).toMatchObject({
      kind: "order",
      plugins: ["NodeLabel"],
      nodes: 2,
      shown: [
        { node: "blue", policy: [{ facts: { labels: { pool: "blue" } }, score: 100 }], shadow: [{ score: 50 }] },
        { node: "green", policy: [{ score: 50 }], shadow: [{ score: 100 }] },
      ],
    });
    expect(await shadow(...access, "--details")).toContain('NodeLabel: score 50, from {"labels":{"pool":"green"}}');
    const { text } = await binder.get("/metrics");
    expect(text).toMatch(/berth_shadow_differences_total\{profile="default",kind="order",plugin="NodeLabel"\} [1-9]/);
  });

  test("is shown to callers only", async () => {
    expect((await binder.get("/shadow")).status).toBe(401);
    const [flag = "", ca = ""] = await credentials();
    await expect(shadow(flag, ca)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("a credential is missing or not accepted"),
    });
  });
});
