import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { type RunningFunction, startWorker } from "./function.ts";
import { e2e } from "./gate.ts";
import {
  extenderEntry,
  filterToo,
  nextName,
  placed,
  plainNode,
  prioritizeOnly,
  profiles,
  refused,
} from "./scheduling.ts";

const PATH = "e2e-callers-path-secret-of-a";
const PASSWORD = "e2e-callers-password-of-b";
const ZONE = "topology.kubernetes.io/zone";
const inZone = (name: string, zone: string) => ({
  name,
  plugins: [{ name: "NodeLabel", args: { require: { [ZONE]: [zone] } } }],
});
const policy = {
  configuration: {
    profiles: [inZone("east", "zone-east"), inZone("west", "zone-west")],
    callers: [
      { name: "cluster-a", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["east"] },
      { name: "cluster-b", credentials: [{ basic: "CLUSTER_B_BASIC" }], profiles: ["west"] },
    ],
  },
  secrets: { CLUSTER_A_PATH: PATH, CLUSTER_B_BASIC: `cluster-b:${PASSWORD}` },
};

await e2e("a function that several clusters ask", (versions) => {
  let plane: ControlPlane;
  let worker: RunningFunction;
  beforeAll(async () => {
    plane = await startControlPlane();
    worker = await startWorker(plane, policy);
    const nodes = ["east", "west"].flatMap((side) =>
      [1, 2].map((count) => plainNode(`${side}-${count}`, { [ZONE]: `zone-${side}` })),
    );
    await createNodes(plane.api, nodes);
  }, 180_000);
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    let running: Scheduler[] = [];
    beforeAll(async () => {
      const start = (name: string, entry: JsonObject) =>
        startScheduler(plane, {
          version,
          config: { profiles: profiles([name], { preemption: false }), extenders: [entry] },
        });
      const withPassword = { ...worker, url: worker.url.replace("://", `://cluster-b:${PASSWORD}@`) };
      running = await Promise.all([
        start("cluster-a", extenderEntry(worker, `${PATH}/east`, filterToo)),
        start("cluster-b", extenderEntry(withPassword, "west", filterToo)),
        start("a-asks-for-west", extenderEntry(worker, `${PATH}/west`, filterToo)),
        start("b-asks-for-east", extenderEntry(withPassword, "east", filterToo)),
        start("b-asks-with-ignorable", extenderEntry(withPassword, "east", { ...filterToo, ignorable: true })),
        start("b-asks-for-scores", extenderEntry(withPassword, "east", prioritizeOnly)),
      ]);
    }, 120_000);
    afterAll(() => Promise.all(running.map((scheduler) => scheduler.stop())));

    const create = (schedulerName: string): Promise<Pod> =>
      plane.api.create<Pod>(buildPod({ name: nextName(), schedulerName, cpu: "100m" }));

    it("gives each cluster its own profile: their pods land where that profile wants them", async () => {
      const pods = await Promise.all(["cluster-a", "cluster-b"].flatMap((name) => [create(name), create(name)]));
      const nodes = await Promise.all(pods.map((pod) => placed(plane, pod)));
      expect(nodes.map((node) => node.slice(0, 4))).toEqual(["east", "east", "west", "west"]);
      const last = `default/${pods.at(-1)?.metadata.name}`;
      const asked = await eventually("the function has logged the last pod", () => {
        const decisions = worker.decisions();
        return decisions.some(({ pod }) => pod === last) ? decisions : undefined;
      });
      const callers = new Set(asked.map(({ caller, policy: of }) => `${caller} ${of.replace(/@.*/, "")}`));
      expect([...callers].sort()).toEqual(["cluster-a east", "cluster-b west"]);
    });

    it("refuses a cluster the profile of another with 404, which keeps a pod pending that it was to filter", async () => {
      for (const name of ["a-asks-for-west", "b-asks-for-east"]) {
        const pod = await create(name);
        expect(await refused(plane, pod)).toMatch(/failed filter with extender at URL .*, code 404$/);
        await plane.api.remove(pod);
      }
    });

    it("is missed by nobody when it refuses an ignorable extender or one that only prioritizes: only its log tells", async () => {
      for (const name of ["b-asks-with-ignorable", "b-asks-for-scores"]) {
        const before = refusals().length;
        const pod = await create(name);
        await placed(plane, pod);
        const events = await eventually("the pod has an event", async () => {
          const all = await plane.api.events(pod);
          return all.length > 0 ? all : undefined;
        });
        expect(events.map(({ reason }) => reason)).toEqual(["Scheduled"]);
        const since = await eventually("the function has logged it", () => refusals().slice(before)[0]);
        expect(since).toMatchObject({ level: "warn", status: 404, caller: "cluster-b" });
      }
    });

    function refusals(): { readonly level: string; readonly status: number; readonly caller: string | null }[] {
      const lines = worker.logs().split("\n");
      return lines.filter((line) => line.includes('"message":"request turned away"')).map((line) => JSON.parse(line));
    }

    it("shows a secret of the URL to whoever reads the events of a refused pod, and at -v=2 in kube-scheduler's log", async () => {
      const byPath = await create("a-asks-for-west");
      expect(await refused(plane, byPath)).toContain(PATH);
      const byPassword = await create("b-asks-for-east");
      expect(await refused(plane, byPassword)).toContain(PASSWORD);
      await Promise.all([byPath, byPassword].map((pod) => plane.api.remove(pod)));
      expect(running[0]?.logs()).toContain(PATH);
      expect(running[1]?.logs()).toContain(PASSWORD);
    });
  });
});
