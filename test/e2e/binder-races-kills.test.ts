import { afterAll, beforeAll, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type Pod, podRef } from "../controlplane/objects.ts";
import { createRandom } from "../controlplane/random.ts";
import { askToBind, NO_ANSWER, storedClaims } from "./bind-calls.ts";
import { applyInfra, createGpuNodes, deviceOf, gpuPod, NAMESPACE, startBinder } from "./binder.ts";
import { e2e } from "./gate.ts";
import { bindAll, type Deathbed, type Fate, killAtBinding, type Mortal, startMortal } from "./mortals.ts";
import { type PodHistory, peaks, recordPods } from "./pod-history.ts";
import { allowLeaseIn, namespaceObject } from "./rivals.ts";

/** BERTH_RACE_SEED: which pods, nodes, binders and moments. The outcome depends on the machine's timing too. */
const SEED = Number(process.env["BERTH_RACE_SEED"] ?? 1);
/** BERTH_RACE_ROUNDS: each makes 25 pods and ends with a binder's death; 100 make a heavy run of five minutes or more. */
const ROUNDS = Number(process.env["BERTH_RACE_ROUNDS"] ?? 20);
const PODS_A_ROUND = 25;
/** Four devices of this much on each node: less than all pods ask for. */
const CAPACITY = 12;
const NODES = Array.from({ length: Math.max(20, ROUNDS) }, (_, index) => `gpu-${index}`);
const FATES: readonly Fate[] = ["late", "delivered", "lost"];
/** The rounds in which the binder dies between promise and Binding; five of twenty, while there is room. */
const BETWEEN = Array.from({ length: ROUNDS }, (_, number) => number).filter((n) => n % 3 === 1 && n < 0.75 * ROUNDS);
const WITHIN = 100_000 + ROUNDS * 20_000;
const REASON = /^node\(s\) had no GPU with \d aliyun.com\/gpu-mem free/;
const settings = { BERTH_LEASE_NAMESPACE: NAMESPACE, BERTH_GRACE_SECONDS: "10" };

await e2e("binders that are killed again and again", () => {
  let plane: ControlPlane;
  let history: PodHistory;
  let mortals: Mortal[];
  beforeAll(async () => {
    plane = await startControlPlane();
    history = await recordPods(plane);
    await applyInfra(plane);
    await plane.api.create(namespaceObject("elsewhere"));
    await allowLeaseIn(plane, "elsewhere");
    await createGpuNodes(plane, NODES, { count: 4, each: CAPACITY });
    mortals = [await startMortal(plane, "mortal-0", settings), await startMortal(plane, "mortal-1", settings)];
    // It believes it leads as well, so that promises are taken back while binders die and binds go on.
    const env = { ...settings, BERTH_LEASE_NAMESPACE: "elsewhere" };
    await startBinder(plane, { name: "cleaner", open: true, env });
  });
  afterAll(() => plane?.stop());

  const list = (): Promise<Pod[]> => plane.api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" });
  const random = createRandom(SEED);
  const work = () => ({ mortals, nodes: NODES, random, tries: 6 });

  /** New pods and those that wait are asked for, while one binder dies at a moment chosen before and is started again. */
  const round = async (number: number, pods: readonly Pod[]): Promise<[Map<Pod, string>, Deathbed | undefined]> => {
    const victim = mortals[number % 2] as Mortal;
    const atBinding = BETWEEN.includes(number);
    const fate = FATES[BETWEEN.indexOf(number) % FATES.length] ?? "lost";
    const deathbed = atBinding ? killAtBinding(plane, victim, fate) : undefined;
    let left = atBinding ? Number.POSITIVE_INFINITY : 1 + random.below(PODS_A_ROUND);
    let revival = Promise.resolve();
    const answered = (): void => {
      left -= 1;
      if (left === 0) victim.kill();
      revival = revival.then(victim.revive);
    };
    const waiting = await bindAll({ ...work(), answered }, pods);
    victim.kill();
    await revival;
    await victim.revive();
    return [waiting, deathbed];
  };

  /** Some pods end, so that devices are given again. */
  const removeSome = async (): Promise<void> => {
    const bound = (await list()).filter(({ spec }) => spec.nodeName !== undefined);
    const chosen = new Set(Array.from({ length: 3 }, () => bound[random.below(bound.length)]?.metadata.name));
    for (const name of chosen) if (name !== undefined) await plane.api.remove(podRef(name));
  };

  it("never take a device beyond its capacity, and leave no promise behind", { timeout: WITHIN }, async () => {
    let waiting = new Map<Pod, string>();
    // Nobody asks for them again before the end: nothing but the grace time takes their promises back.
    const abandoned: Pod[] = [];
    const deathbeds: Deathbed[] = [];
    for (let number = 0; number < ROUNDS; number++) {
      const names = Array.from({ length: PODS_A_ROUND }, (_, index) => `pod-${number}-${index}`);
      const fresh = names.map((name) => gpuPod(name, 1 + random.below(4), { schedulerName: "nobody" }));
      const pods = await Promise.all(fresh.map((pod) => plane.api.create(pod)));
      const [left, deathbed] = await round(number, [...waiting.keys(), ...pods]);
      waiting = new Map([...left].filter(([, reason]) => reason !== NO_ANSWER));
      abandoned.push(...[...left.keys()].filter((pod) => !waiting.has(pod)));
      if (deathbed) deathbeds.push(deathbed);
      await removeSome();
    }
    expect(mortals.reduce((sum, mortal) => sum + mortal.kills(), 0)).toBe(ROUNDS);
    await judgeDeathbeds(deathbeds);
    waiting = await bindAll(work(), [...waiting.keys(), ...abandoned]);

    const within = { within: 60_000, every: 1_000 };
    await eventually(
      "every promise is kept",
      async (saw) => {
        const faults = await broken();
        saw(faults);
        return faults.length === 0;
      },
      within,
    );
    expect([...peaks(await history.complete())].filter(([, most]) => most > CAPACITY)).toEqual([]);
    const reasons = new Map([...waiting].map(([pod, reason]) => [pod.metadata.uid, reason]));
    const unbound = (await list()).filter(({ spec }) => spec.nodeName === undefined);
    for (const { metadata } of unbound) expect(reasons.get(metadata.uid), metadata.name).toMatch(REASON);
    await useWhatIsLeft(unbound);
    expect([...peaks(await history.complete())].filter(([, most]) => most > CAPACITY)).toEqual([]);
  });

  /** Promises whose pod is not bound to the node with that device, and bound pods without a promise. */
  const broken = async (): Promise<string[]> => {
    const bound = (await list()).filter(({ spec }) => spec.nodeName !== undefined);
    const line = (...parts: unknown[]): string => parts.join(" ");
    const held = bound.map((pod) => line(pod.metadata.name, pod.spec.nodeName, deviceOf(pod).index));
    const promised = (await storedClaims(plane)).map(({ podName, node, device }) => line(podName, node, device));
    const [holders, promises] = [new Set(held), new Set(promised)];
    return [...promised.filter((each) => !holders.has(each)), ...held.filter((each) => !promises.has(each))];
  };

  /** Each was reached; what was delivered at once took effect, what came too late was refused by the API server. */
  const judgeDeathbeds = async (deathbeds: readonly Deathbed[]): Promise<void> => {
    expect(deathbeds).toHaveLength(BETWEEN.length);
    for (const { fate, binding } of deathbeds) {
      expect(binding).toBeDefined();
      const expected = { lost: undefined, delivered: 201, late: 409 }[fate];
      await eventually(`the ${fate} Binding was answered as it should be`, (saw) => {
        const answers = mortals.flatMap(({ interposer }) => interposer.answers);
        const status = answers.find(({ body }) => body === binding?.body)?.status;
        saw(status);
        return status === expected;
      });
    }
  };

  /** A pod that waits although some device has room is bound there. */
  const useWhatIsLeft = async (pods: readonly Pod[]): Promise<void> => {
    for (const pod of pods) {
      const amount = Number(pod.spec.containers[0]?.resources?.limits?.["aliyun.com/gpu-mem"]);
      const free = await freeOn(amount);
      if (free !== undefined) expect(await askToBind(mortals[0]?.url() ?? "", pod, free)).toBe("");
    }
  };
  const freeOn = async (amount: number): Promise<string | undefined> => {
    const used = new Map<string, number>();
    for (const pod of await list()) {
      const device = `${pod.spec.nodeName}/${deviceOf(pod).index}`;
      used.set(device, (used.get(device) ?? 0) + Number(deviceOf(pod).amount ?? 0));
    }
    const fits = (node: string): boolean =>
      ["0", "1", "2", "3"].some((id) => (used.get(`${node}/${id}`) ?? 0) + amount <= CAPACITY);
    return NODES.find(fits);
  };
});
