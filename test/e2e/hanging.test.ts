import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { e2e } from "./gate.ts";
import { type HangingServer, type HeldCall, startHanging } from "./hanging.ts";
import { extenderEntry, filterToo, plainNode, prioritizeOnly, profiles, refused } from "./scheduling.ts";

const SLOT = "example.com/slot";
const managed = { managedResources: [{ name: SLOT }] };

/** Kube-schedulers by name: what differs in their only extender, which hangs. */
const entries = {
  "filter-all": filterToo,
  "filter-all-ignorable": { ...filterToo, ignorable: true },
  "filter-some": { ...filterToo, ...managed },
  "filter-some-ignorable": { ...filterToo, ...managed, ignorable: true },
  "scores-all": prioritizeOnly,
} satisfies Readonly<Record<string, JsonObject>>;

type Name = keyof typeof entries;
const names = Object.keys(entries) as Name[];

/** Pods that request the resource, in a profile of their own, and pods that do not, in another profile. */
const WITH = 3;
const WITHOUT = 20;

await e2e("a function that hangs", (versions) => {
  let plane: ControlPlane;
  let hanging: HangingServer;
  beforeAll(async () => {
    plane = await startControlPlane();
    hanging = await startHanging(plane);
    const node = (name: string) => {
      const made = plainNode(name);
      const more = { [SLOT]: "1000", cpu: "64", memory: "256Gi" };
      const { allocatable, capacity } = made.status;
      return {
        ...made,
        status: { ...made.status, allocatable: { ...allocatable, ...more }, capacity: { ...capacity, ...more } },
      };
    };
    await createNodes(plane.api, [node("one"), node("two"), node("three")]);
  }, 180_000);
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    let running: Scheduler[] = [];
    /** The pods of this version by scheduler: first those with the resource, then those without. */
    const pods = new Map<Name, { readonly with: Pod[]; readonly without: Pod[] }>();
    const id = version.replaceAll(".", "-");
    const callsOf = (name: Name): HeldCall[] => hanging.calls(`${name}-${id}`);
    beforeAll(async () => {
      running = await Promise.all(names.map((name) => startScheduler(plane, { version, config: config(name) })));
      await Promise.all(names.map(createPods));
    }, 120_000);
    afterAll(async () => {
      await Promise.all(running.map((scheduler) => scheduler.stop()));
      await plane?.api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
    });

    function config(name: Name): JsonObject {
      const entry = { ...entries[name], httpTimeout: "1s" };
      return {
        profiles: profiles([name, `${name}-2`], { preemption: false }),
        extenders: [extenderEntry(hanging, `${name}-${id}/default`, entry)],
      };
    }

    async function createPods(name: Name): Promise<void> {
      const create = (of: string, count: number, options: object): Promise<Pod[]> =>
        Promise.all(
          Array.from({ length: count }, (_, index) =>
            plane.api.create<Pod>(buildPod({ name: `${name}-${id}-${of}-${index}`, cpu: "100m", ...options })),
          ),
        );
      const slot = { requests: { [SLOT]: "1" }, limits: { [SLOT]: "1" } };
      const asking = await create("with", WITH, { schedulerName: name, ...slot });
      pods.set(name, { with: asking, without: await create("without", WITHOUT, { schedulerName: `${name}-2` }) });
    }

    /** How many pods of a scheduler have a node by now. */
    async function bound(): Promise<(name: Name, which: "with" | "without") => string[]> {
      const all = await plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" });
      const placed = new Set(
        all.filter(({ spec }) => spec.nodeName !== undefined).map(({ metadata }) => metadata.name),
      );
      return (name, which) =>
        (pods.get(name)?.[which] ?? []).map(({ metadata }) => metadata.name).filter((pod) => placed.has(pod));
    }

    it("stops every profile of its kube-scheduler, or with `ignorable` slows them all, unless managedResources keeps their pods from it", async ({
      annotate,
    }) => {
      const first = await eventually("pods that the function is not asked about are placed", async (saw) => {
        const now = await bound();
        saw(names.map((name) => [name, now(name, "with").length, now(name, "without").length]));
        const done = (name: Name): boolean => now(name, "without").length === WITHOUT;
        return done("filter-some") && done("filter-some-ignorable") ? now : undefined;
      });
      const total = (name: Name): number => first(name, "with").length + first(name, "without").length;
      expect(total("filter-all")).toBe(0);
      expect(total("filter-all-ignorable")).toBeLessThan(total("filter-some-ignorable"));
      expect(total("scores-all")).toBeLessThan(total("filter-some"));
      await annotate(names.map((name) => `${name}: ${total(name)} of ${WITH + WITHOUT}`).join(", "), "seen");
    });

    it("fails the pods that it filters, places them without the policy when it is ignorable", async () => {
      const now = await eventually("ignorable extenders let their pods through", async (saw) => {
        const then = await bound();
        saw(names.map((name) => [name, then(name, "with").length, then(name, "without").length]));
        const through = then("filter-some-ignorable", "with").length === WITH;
        return through && then("filter-all-ignorable", "without").length > 0 ? then : undefined;
      });
      for (const name of ["filter-all", "filter-some"] as const) expect(now(name, "with"), name).toEqual([]);
      expect(now("filter-all", "without")).toEqual([]);
    });

    it("costs an ignored pod httpTimeout for each verb, one pod after the other", async () => {
      const now = await eventually("a pod of the other profile is placed too", async () => {
        const then = await bound();
        const placed = ["filter-all-ignorable", "scores-all"] as const;
        return placed.every((name) => then(name, "without").length > 0) ? then : undefined;
      });
      const verbs = { "filter-all-ignorable": ["filter", "prioritize"], "scores-all": ["prioritize"] };
      for (const name of ["filter-all-ignorable", "scores-all"] as const) {
        for (const pod of [...now(name, "with"), ...now(name, "without")]) {
          const calls = callsOf(name).filter((call) => call.pod === pod);
          expect(
            calls.map(({ verb }) => verb),
            pod,
          ).toEqual(verbs[name]);
          expect(
            calls.every(({ gaveUp }) => gaveUp),
            pod,
          ).toBe(true);
        }
        const order = callsOf(name).map(({ pod }) => pod);
        const oneByOne = order.filter((pod, index) => pod !== order[index - 1]);
        expect(oneByOne, name).toEqual([...new Set(order)]);
      }
    });

    it("is asked about no pod without the resource when managedResources names one", () => {
      for (const name of ["filter-some", "filter-some-ignorable"] as const) {
        expect(callsOf(name).length, name).toBeGreaterThan(0);
        expect(
          callsOf(name).filter(({ pod }) => pod.includes("without")),
          name,
        ).toEqual([]);
      }
    });

    it("puts its URL, path secret included, into the event of every pod that it fails", async () => {
      const pod = pods.get("filter-all")?.with[0];
      if (pod === undefined) throw new Error("there is no pod");
      expect(await refused(plane, pod)).toContain(`${hanging.url}/filter-all-${id}/default/filter`);
    });
  });
});
