import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WIRINGS } from "../../src/cli/config/options.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { createGpuNodes, deviceOf, gpuPod, NAMESPACE } from "./binder.ts";
import { startWithFile } from "./config-file.ts";
import { e2e } from "./gate.ts";
import { applyKustomization } from "./kubectl.ts";
import { type RunningPod, runPod } from "./kubelet.ts";
import { placed } from "./scheduling.ts";

const root = join(import.meta.dirname, "..", "..");
const HOSTS = { binder: "berth-binder.berth-system.svc", function: "berth-function.berth-system.svc" };

await e2e("the kit that berth init writes", (versions) => {
  const version = versions.at(-1) ?? "";

  describe.each(WIRINGS)("for %s, on an empty control plane", (wiring) => {
    let plane: ControlPlane;
    let binder: RunningPod | undefined;
    let served: RunningPod | undefined;
    const inCluster = wiring === "prioritize-only" || wiring === "direct" || wiring === "relay";
    const binds = wiring !== "prioritize-only" && wiring !== "direct";

    beforeAll(async () => {
      plane = await startControlPlane();
      const folder = join(plane.folder, "kit");
      const args = ["init", folder, "--yes", "--wiring", wiring, "--kubernetes-version", version];
      const { stderr } = await promisify(execFile)(process.execPath, ["src/cli/berth.js", ...args], { cwd: root });
      await applyKustomization(plane, folder);
      const hosts = await runPrograms();
      if (wiring === "second-scheduler") await runPod(plane, workload("berth-scheduler"), { hosts });
      else await startWithFile(plane, { version, text: await configuration(folder, hosts), flags: gatesIn(stderr) });
      await createGpuNodes(plane, ["first", "second"], { count: 2, each: 8, fresh: binder === undefined });
    }, 180_000);
    afterAll(() => plane?.stop());

    const workload = (name: string) => ({ namespace: NAMESPACE, name });

    /** Starts the function, then the binder, which may ask it, and gives the addresses that their names stand for. */
    async function runPrograms(): Promise<Record<string, string>> {
      const hosts: Record<string, string> = {};
      if (inCluster) served = await runPod(plane, workload("berth-function"));
      if (served) hosts[HOSTS.function] = served.url("https");
      if (binds) binder = await runPod(plane, workload("berth-binder"), { hosts: { ...hosts } });
      if (binder) hosts[HOSTS.binder] = binder.url("https");
      return hosts;
    }

    /** scheduler.yaml as it would be on a control-plane node, whose files and names this machine has elsewhere. */
    async function configuration(folder: string, hosts: Readonly<Record<string, string>>): Promise<string> {
      const kubeconfig = await plane.kubeconfig("system:kube-scheduler");
      const text = await readFile(join(folder, "scheduler.yaml"), "utf8");
      const named = text
        .replaceAll("/etc/kubernetes/berth/", `${folder}/certs/`)
        .replace("/etc/kubernetes/scheduler.conf", kubeconfig);
      return Object.entries(hosts).reduce((result, [host, url]) => result.replaceAll(`https://${host}`, url), named);
    }

    const schedulerName = wiring === "second-scheduler" ? { schedulerName: "berth" } : {};
    const asked = (pod: Pod) => {
      const logs = `${served?.logs() ?? ""}${binder?.logs() ?? ""}`;
      return logs
        .split("\n")
        .some((line) => line.includes('"decision"') && line.includes(`default/${pod.metadata.name}`));
    };

    it("has a pod placed by what Berth says of it", async () => {
      const pod = await plane.api.create<Pod>(buildPod({ name: "plain", cpu: "100m", ...schedulerName }));
      expect(["first", "second"]).toContain(await placed(plane, pod));
      // A pod that asks for no device does not concern a binder that is there for devices alone.
      if (wiring !== "binder-only") await eventually("Berth was asked about it", () => asked(pod));
      else expect(asked(pod)).toBe(false);
    });

    it("has a GPU pod bound, with its device where there is a binder", async () => {
      const pod = await plane.api.create<Pod>(gpuPod("gpu", 5, schedulerName));
      await placed(plane, pod);
      await eventually("Berth was asked about it", () => asked(pod));
      const bound = await plane.api.get<Pod>(pod);
      expect(deviceOf(bound)).toMatchObject(
        binds ? { index: "0", amount: "5", assigned: "false" } : { index: undefined },
      );
    });
  });
});

/** The flags that berth init says kube-scheduler needs. */
function gatesIn(said: string): string[] {
  return /--feature-gates=\S+/.exec(said)?.slice(0, 1) ?? [];
}
