import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod, type PodOptions } from "../controlplane/pods.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { type RunningFunction, startWorker } from "./function.ts";
import { e2e } from "./gate.ts";
import { extenderEntry, nextName, placed, plainNode, prioritizeOnly, profiles } from "./scheduling.ts";
import { type LoggedScores, loggedScores } from "./scores.ts";

const CAPACITY = "karpenter.sh/capacity-type";
const SECRET = "e2e-prioritize-path-secret";
const policy = {
  configuration: {
    profiles: [{ name: "cost", plugins: [{ name: "NodeCost" }] }],
    callers: [{ name: "cluster-a", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["cost"] }],
  },
  facts: {
    prices: [
      { match: { [CAPACITY]: "spot" }, perHour: 0.1 },
      { match: { [CAPACITY]: "on-demand" }, perHour: 0.4 },
    ],
  },
  secrets: { CLUSTER_A_PATH: SECRET },
};

/** Worth 100 × 2 in kube-scheduler's total. */
const prefersDear = {
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: CAPACITY, operator: "In", values: ["on-demand"] }] } },
      ],
    },
  },
};

await e2e("a function that only prioritizes", (versions) => {
  let plane: ControlPlane;
  let worker: RunningFunction;
  beforeAll(async () => {
    plane = await startControlPlane();
    worker = await startWorker(plane, policy);
    const cheap = plainNode("cheap-and-busy", { [CAPACITY]: "spot" });
    await createNodes(plane.api, [cheap, plainNode("dear-and-idle", { [CAPACITY]: "on-demand" })]);
    const resident = { name: "resident", cpu: "4", memory: "16Gi", nodeName: "cheap-and-busy" };
    await plane.api.create(buildPod(resident));
  }, 180_000);
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    /** `plain` asks nobody; the others ask the function with a weight of 1 and 3. */
    let schedulers: Readonly<Record<"plain" | "light" | "heavy", Scheduler>>;
    beforeAll(async () => {
      const start = (name: string, config: object) =>
        startScheduler(plane, {
          version,
          verbosity: 10,
          config: { profiles: profiles([name, `${name}-2`]), ...config },
        });
      const asking = (weight: number) => ({
        extenders: [extenderEntry(worker, `${SECRET}/cost`, { ...prioritizeOnly, weight })],
      });
      const [plain, light, heavy] = await Promise.all([
        start("plain", {}),
        start("light", asking(1)),
        start("heavy", asking(3)),
      ]);
      schedulers = { plain, light, heavy };
    }, 120_000);
    afterAll(() => Promise.all(Object.values(schedulers ?? {}).map((scheduler) => scheduler.stop())));

    /** Has a pod placed and tells where and by which scores; removes it again, so that the next meets the same nodes. */
    async function place(schedulerName: string, options: Partial<PodOptions> = {}): Promise<Placement> {
      const manifest = buildPod({ name: nextName(), schedulerName, cpu: "1", memory: "4Gi", ...options });
      const pod = await plane.api.create<Pod>(manifest);
      const node = await placed(plane, pod);
      await plane.api.remove(pod);
      const name = `default/${pod.metadata.name}`;
      const scheduler = schedulers[schedulerName.replace("-2", "") as keyof typeof schedulers];
      return { pod: name, node, scores: loggedScores(scheduler.logs(), name) };
    }

    it("moves a pod to the cheaper node when kube-scheduler's own scores prefer another by less than score × weight × 10", async ({
      annotate,
    }) => {
      const alone = await place("plain");
      const asked = await place("light");
      expect(alone.node).toBe("dear-and-idle");
      expect(asked.node).toBe("cheap-and-busy");
      const preference = gap(alone.scores.inTree);
      expect(preference).toBeGreaterThan(0);
      expect(preference).toBeLessThan(10 * 1 * 10);
      expect(asked.scores.extender).toEqual({ "cheap-and-busy": 10, "dear-and-idle": 0 });
      expect(asked.scores.total).toEqual({
        "cheap-and-busy": (asked.scores.inTree["cheap-and-busy"] ?? 0) + 10 * 1 * 10,
        "dear-and-idle": asked.scores.inTree["dear-and-idle"],
      });
      await annotate(`in-tree ${show(asked.scores.inTree)}; with the function ${show(asked.scores.total)}`, "seen");
    });

    it("leaves a pod where kube-scheduler's own scores want it by more than that, and moves it with a larger weight", async () => {
      const alone = await place("plain", { spec: prefersDear });
      expect(gap(alone.scores.inTree)).toBeGreaterThan(10 * 1 * 10);
      expect(gap(alone.scores.inTree)).toBeLessThan(10 * 3 * 10);
      expect((await place("light", { spec: prefersDear })).node).toBe("dear-and-idle");
      const heavy = await place("heavy", { spec: prefersDear });
      expect(heavy.node).toBe("cheap-and-busy");
      expect(heavy.scores.total["cheap-and-busy"]).toBe((heavy.scores.inTree["cheap-and-busy"] ?? 0) + 10 * 3 * 10);
    });

    it("leaves every in-tree score as it is without a function: a busy node is scored as busy", async ({
      annotate,
    }) => {
      const alone = await place("plain");
      const asked = await place("light");
      expect(asked.scores.plugins).toEqual(alone.scores.plugins);
      const { "cheap-and-busy": busy, "dear-and-idle": idle } = asked.scores.plugins;
      expect(busy?.["NodeResourcesFit"]).toBeLessThan(idle?.["NodeResourcesFit"] ?? 0);
      await annotate(
        `NodeResourcesFit: busy ${busy?.["NodeResourcesFit"]}, idle ${idle?.["NodeResourcesFit"]}`,
        "seen",
      );
    });

    it("is never sent a pod of another kube-scheduler, but every pod of another profile of the same one", async () => {
      const before = worker.decisions().length;
      await place("plain");
      const pods = [(await place("light")).pod, (await place("light-2")).pod];
      const asked = await eventually("the function has logged both decisions", () => {
        const since = worker.decisions().slice(before);
        return since.some(({ pod }) => pod === pods[1]) ? since : undefined;
      });
      expect(asked.map(({ verb, pod, caller }) => [verb, pod, caller])).toEqual(
        pods.map((pod) => ["prioritize", pod, "cluster-a"]),
      );
    });

    it("is not asked about a pod that only one node can take", async () => {
      const only = await place("light", { spec: { nodeSelector: { [CAPACITY]: "on-demand" } } });
      expect(only.node).toBe("dear-and-idle");
      const next = await place("light");
      const asked = await eventually("the function has logged the pod after it", () => {
        const pods = worker.decisions().map(({ pod }) => pod);
        return pods.includes(next.pod) ? pods : undefined;
      });
      expect(asked).not.toContain(only.pod);
    });
  });
});

interface Placement {
  /** `<namespace>/<name>` */
  readonly pod: string;
  readonly node: string;
  readonly scores: LoggedScores;
}

function gap(scores: LoggedScores["inTree"]): number {
  return (scores["dear-and-idle"] ?? 0) - (scores["cheap-and-busy"] ?? 0);
}

function show(scores: Readonly<Record<string, number>>): string {
  return Object.entries(scores)
    .map(([node, score]) => `${node} ${score}`)
    .sort()
    .join(", ");
}
