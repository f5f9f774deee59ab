import { afterAll, beforeAll, expect, it } from "vitest";
import { inParallel } from "../bench/binder-targets.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { e2e } from "./gate.ts";
import { applyScheduler, eventsOf, NAMESPACE, type RunningScheduler, SCHEDULER, startBerth } from "./scheduler.ts";
import { plainNode } from "./scheduling.ts";

const LEASE = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: SCHEDULER, namespace: NAMESPACE },
} as KubeObject;

await e2e("two replicas of berth schedule", () => {
  let plane: ControlPlane;
  const replicas: RunningScheduler[] = [];
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyScheduler(plane);
    await createNodes(
      plane.api,
      ["one", "two", "three"].map((name) => plainNode(name)),
    );
    for (const name of ["first", "second"]) replicas.push(await startBerth(plane, { name }));
  });
  afterAll(() => plane?.stop());

  const leads = async (replica: RunningScheduler): Promise<boolean> =>
    /^berth_leader 1$/m.test((await replica.get("/metrics")).text);
  const leader = () =>
    eventually("one of them leads", async () => {
      for (const replica of replicas) if (await leads(replica)) return replica;
      return undefined;
    });
  let rounds = 0;
  /** Pods of names that nothing has had before, not even in an earlier attempt at the same test. */
  const create = (count: number, prefix: string): Promise<Pod[]> => {
    const round = rounds++;
    const names = Array.from({ length: count }, (_, index) => `${prefix}-${round}-${index}`);
    return inParallel(names, 8, (name) => plane.api.create(buildPod({ name, schedulerName: SCHEDULER, cpu: "50m" })));
  };
  const list = (): Promise<Pod[]> => plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" });
  const bound = async (pods: readonly Pod[]): Promise<number> => {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    return (await list()).filter(({ metadata, spec }) => uids.has(metadata.uid) && spec.nodeName !== undefined).length;
  };
  const allBound = (pods: readonly Pod[]) =>
    eventually(
      "all are bound",
      async (saw) => {
        const count = await bound(pods);
        saw(count);
        return count === pods.length;
      },
      { within: 60_000, every: 500 },
    );
  /** What each pod was told, once for each pod. */
  const events = async (pods: readonly Pod[]) => {
    const all = () => Promise.all(pods.map((pod) => eventsOf(plane, pod)));
    await eventually("every pod has its event", async () =>
      (await all()).every((each) => each["Scheduled"] !== undefined),
    );
    return stays("the events", all, 1_500);
  };

  it("hand over at once when the leader ends, and the pods that come meanwhile are placed", async () => {
    const first = await leader();
    const before = await create(10, "before");
    const creating = create(20, "during");
    await first.stop();
    const during = await creating;
    await allBound([...before, ...during]);
    expect(await events([...before, ...during])).toEqual([...before, ...during].map(() => ({ Scheduled: 1 })));
    replicas.splice(replicas.indexOf(first), 1, await startBerth(plane, { name: "third" }));
  });

  it("one is frozen while it leads, past its Lease, and wakes: no pod is bound or told of twice", async () => {
    const frozen = await leader();
    const holder = (await plane.api.get<KubeObject>(LEASE))["spec"] as { readonly holderIdentity: string };
    const before = (await list()).length;
    const creating = create(60, "frozen");
    await eventually("some pods have come", async () => (await list()).length > before + 5);
    frozen.process.signal("SIGSTOP");
    const pods = await creating;
    await eventually(
      "another holds the Lease",
      async (saw) => {
        const { holderIdentity } = (await plane.api.get<KubeObject>(LEASE))["spec"] as typeof holder;
        saw(holderIdentity);
        return holderIdentity !== "" && holderIdentity !== holder.holderIdentity;
      },
      { within: 60_000 },
    );
    frozen.process.signal("SIGCONT");
    const more = await create(20, "thawed");
    await allBound([...pods, ...more]);
    expect(await events([...pods, ...more])).toEqual([...pods, ...more].map(() => ({ Scheduled: 1 })));
    expect(await leads(frozen)).toBe(false);
  });
});
