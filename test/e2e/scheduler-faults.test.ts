import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { inParallel } from "../bench/binder-targets.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { createRandom } from "../controlplane/random.ts";
import { type ApiProxy, startApiProxy, status } from "./apiproxy.ts";
import { e2e } from "./gate.ts";
import { wronglyPending } from "./pending.ts";
import { ACCOUNT, applyScheduler, NAMESPACE, type RunningScheduler, SCHEDULER, startBerth, told } from "./scheduler.ts";
import { placed, plainNode } from "./scheduling.ts";

/** Pods in the large run. */
const PODS = Number(process.env["BERTH_E2E_PODS"] ?? 2_000);

await e2e("berth schedule, when things go wrong", () => {
  let plane: ControlPlane;
  let proxy: ApiProxy;
  let scheduler: RunningScheduler;
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyScheduler(plane);
    const names = Array.from({ length: Math.ceil(PODS / 40) }, (_, index) => `node-${index}`);
    await createNodes(
      plane.api,
      names.map((name) => plainNode(name)),
    );
    proxy = await startApiProxy(plane, "proxy", await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT));
    scheduler = await startBerth(plane, { name: "scheduler", kubeconfig: proxy.kubeconfig });
  });
  afterEach(async () => {
    proxy.fault = undefined;
    const path = "/api/v1/namespaces/default/pods";
    const gone = async (): Promise<boolean> => {
      // Thousands at a time may take the API server longer than an answer is waited for; it goes on all the same.
      const remove = plane.api.request({ method: "DELETE", path, body: { gracePeriodSeconds: 0 } });
      await remove.catch(() => undefined);
      return (await plane.api.list({ apiVersion: "v1", kind: "Pod", namespace: "default" })).length === 0;
    };
    await eventually("the pods are gone", gone, { within: 150_000, every: 1_000 });
  }, 180_000);
  afterAll(() => plane?.stop());

  const create = (count: number, prefix: string, cpu = "100m"): Promise<Pod[]> => {
    const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    return inParallel(names, 16, (name) => plane.api.create(buildPod({ name, schedulerName: SCHEDULER, cpu })));
  };
  const allBound = (count: number) =>
    eventually(
      `${count} pods are bound`,
      async (saw) => {
        const pods = await plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" });
        const bound = pods.filter(({ spec }) => spec.nodeName !== undefined);
        saw(bound.length);
        return bound.length === count && bound;
      },
      { within: 180_000, every: 500 },
    );

  /** Each pod's events Scheduled, counted: the distinct counts that there are. */
  const scheduledCounts = async (pods: readonly Pod[]): Promise<number[]> => {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    const count = async (): Promise<number[]> => {
      type Told = KubeObject & {
        readonly reason: string;
        readonly regarding: { readonly uid: string };
        readonly series?: { readonly count: number };
      };
      const events = await plane.api.list<Told>({
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        namespace: "default",
      });
      const counts = new Map([...uids].map((uid) => [uid, 0]));
      for (const { reason, regarding, series } of events) {
        if (reason !== "Scheduled" || !counts.has(regarding.uid)) continue;
        counts.set(regarding.uid, (counts.get(regarding.uid) ?? 0) + (series?.count ?? 1));
      }
      return [...new Set(counts.values())].sort();
    };
    await eventually(
      "every pod has an event",
      async (saw) => {
        const counts = await count();
        saw(counts);
        return !counts.includes(0);
      },
      {
        within: 60_000,
        every: 500,
      },
    );
    return stays("the events", count, 1_500);
  };

  it("an API server that restarts amid cut watches and Bindings gone astray: every pod is bound once, none is lost", async () => {
    const astray = { twice: 0, swallow: 0, expired: 0 };
    let bindings = 0;
    proxy.fault = ({ watch, method, path }) => {
      if (method === "POST" && path.endsWith("/binding") && ++bindings % 100 === 0) {
        const misdeed = bindings % 200 === 0 ? "swallow" : "twice";
        astray[misdeed]++;
        return misdeed;
      }
      if (!watch || bindings < PODS / 20 || astray.expired >= 4) return undefined;
      astray.expired++;
      return status(410, "Expired", "too old resource version");
    };
    const creating = create(PODS, "restart");
    await eventually("a tenth is on its way", () => bindings > PODS / 10, { within: 240_000 });
    proxy.cutWatches();
    const pods = await creating;
    await plane.restartApiServer();
    const more = await create(20, "after");
    await allBound(PODS + 20);
    expect(await scheduledCounts([...pods, ...more])).toEqual([1]);
    expect(Object.values(astray).filter((count) => count === 0)).toEqual([]);
  }, 420_000);

  it("watches that are cut, and go on with 410: nothing is missed", async () => {
    let expired = 0;
    proxy.fault = ({ watch }) => {
      if (!watch || expired >= 4) return undefined;
      expired += 1;
      return status(410, "Expired", "too old resource version");
    };
    proxy.cutWatches();
    const pods = await create(30, "cut");
    await eventually("watches were refused", () => expired >= 4);
    proxy.cutWatches();
    const more = await create(30, "cut-again");
    await allBound(60);
    expect(await scheduledCounts([...pods, ...more])).toEqual([1]);
  });

  it.each(["twice", "swallow"] as const)(
    "Bindings whose delivery goes wrong (%s): one Binding and one event each",
    async (misdeed) => {
      let left = 6;
      proxy.fault = ({ method, path }) =>
        method === "POST" && path.endsWith("/binding") && left-- > 0 ? misdeed : undefined;
      const pods = await create(20, misdeed);
      await allBound(20);
      expect(left).toBeLessThan(0);
      expect(await scheduledCounts(pods)).toEqual([1]);
    },
  );

  it("a bind that is always refused: the pod says so, and another that fits is bound meanwhile", async () => {
    proxy.fault = ({ path }) => (path.includes("/refused-0/") ? status(403, "Forbidden", "not this one") : undefined);
    const [refused] = await create(1, "refused");
    if (refused === undefined) throw new Error("no pod");
    const { message } = await told(plane, refused, "FailedScheduling");
    expect(message).toMatch(/^binding rejected: The API server refused the Binding \(.*not this one/);
    const [fits] = await create(1, "fits");
    if (fits === undefined) throw new Error("no pod");
    await placed(plane, fits);
    proxy.fault = undefined;
    await placed(plane, refused);
  });

  it("a cluster that is too small, with pods that come and go: at the end nobody waits whom a node could take", async () => {
    const random = createRandom(11);
    const sizes = ["500m", "1", "2", "3"];
    const pods = await inParallel(
      Array.from({ length: 60 }, (_, index) => `mixed-${index}`),
      16,
      (name) =>
        plane.api.create<Pod>(
          buildPod({ name, schedulerName: SCHEDULER, cpu: sizes[random.below(4)] ?? "1", memory: "256Mi" }),
        ),
    );
    for (const pod of pods.filter(() => random.below(3) === 0)) await plane.api.remove(pod);
    await eventually(
      "nobody waits for nothing",
      async (saw) => {
        const wrongly = await wronglyPending(plane, SCHEDULER);
        saw(wrongly);
        return wrongly.length === 0;
      },
      { within: 45_000, every: 500 },
    );
    expect(await stays("who waits for nothing", () => wronglyPending(plane, SCHEDULER), 1_500)).toEqual([]);
    expect(scheduler.process.exit()).toBeUndefined();
  });
});
