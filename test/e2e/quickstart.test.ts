import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyProject, type Project } from "../cli/project.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { controlPlanePrograms } from "../controlplane/programs.ts";
import { documentedCommands } from "../docs/commands.ts";
import { createGpuNodes, NAMESPACE } from "./binder.ts";
import { gated } from "./gate.ts";
import { runPod } from "./kubelet.ts";

const VERSION = "1.37.2";

/** What test/cli/dev.test.ts runs. */
const ELSEWHERE = ["npm ci && npm start"];

await gated("docs/quickstart.md", controlPlanePrograms([VERSION]), () => {
  let plane: ControlPlane;
  let project: Project;
  beforeAll(async () => {
    plane = await startControlPlane();
    project = await copyProject();
    await cp(join(import.meta.dirname, "../../infra"), join(project.folder, "infra"), { recursive: true });
  });
  afterAll(async () => {
    await plane?.stop();
    await project?.remove();
  });

  /** What the cluster does by itself once the manifests are there. */
  async function startPrograms(): Promise<void> {
    const binder = await runPod(plane, { namespace: NAMESPACE, name: "berth-binder" });
    const hosts = { "berth-binder.berth-system.svc": binder.url("https") };
    await runPod(plane, { namespace: NAMESPACE, name: "berth-scheduler" }, { hosts });
    await createGpuNodes(plane, ["first", "second"], { count: 1, each: 8 });
  }

  it("leads to a pod that the second scheduler has placed, by its own commands in their order", async () => {
    const commands = (await documentedCommands())
      .filter(({ page }) => page === "docs/quickstart.md")
      .map(({ command }) => command)
      .filter((command) => !ELSEWHERE.includes(command));
    expect(commands.length).toBeGreaterThan(5);
    const env = { ...process.env, KUBECONFIG: await plane.kubeconfig("admin"), NO_COLOR: "1" };
    const said: Record<string, string> = {};
    for (const command of commands) {
      const run = promisify(execFile)("sh", ["-c", command], { cwd: project.folder, env });
      said[command] = await run.then(
        ({ stdout }) => stdout,
        // Exit code 3: berth check has warnings, as the page says.
        (error: { code: number; stdout: string; stderr: string }) => {
          if (error.code !== 3) throw new Error(`${command}: ${error.stderr}`);
          return error.stdout;
        },
      );
      if (command.startsWith("kubectl apply")) await startPrograms();
    }
    const last = Object.entries(said).find(([command]) => command.includes("get events"))?.[1];
    expect(last).toMatch(/Scheduled .*pod\/hello .*Successfully assigned default\/hello to (first|second)/);
  });
});
