import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { askToBind, storedClaims } from "./bind-calls.ts";
import { allVerbs, applyInfra, createGpuNodes, deviceOf, gpuPod } from "./binder.ts";
import { e2e } from "./gate.ts";
import { type Interposer, isBinding, isClaim } from "./interposer.ts";
import { type PodHistory, peaks, recordPods } from "./pod-history.ts";
import { GRACE_MS, type Rival, startRivals } from "./rivals.ts";
import { placed, profiles, refused } from "./scheduling.ts";

const ids = ["0", "1", "2", "3", "4", "5"];

await e2e("two binders that both believe they lead", (versions) => {
  let plane: ControlPlane;
  let history: PodHistory;
  let one: Rival;
  let other: Rival;
  beforeAll(async () => {
    plane = await startControlPlane();
    history = await recordPods(plane);
    await applyInfra(plane);
    await createGpuNodes(plane, ["called", "scheduled"], { count: 6, each: 12 });
    await createGpuNodes(plane, ["late", "frozen-before", "frozen-after"], { count: 1, each: 12 });
    [one, other] = await startRivals(plane);
  });
  afterAll(() => plane?.stop());

  const get = (pod: Pod): Promise<Pod> => plane.api.get<Pod>(pod);
  const make = (name: string, amount: number, more = {}): Promise<Pod> =>
    plane.api.create(gpuPod(name, amount, { schedulerName: "nobody", ...more }));
  const makeMany = (prefix: string, more: (index: number) => object = () => ({})): Promise<Pod[]> =>
    Promise.all(Array.from({ length: 18 }, (_, index) => make(`${prefix}-${index}`, 4, more(index))));
  const full = async (node: string, pods: readonly Pod[]): Promise<void> => {
    const now = await Promise.all(pods.map(get));
    expect(now.map(({ spec }) => spec.nodeName)).toEqual(now.map(() => node));
    expect(now.map((pod) => deviceOf(pod).index).sort()).toEqual(ids.flatMap((id) => [id, id, id]));
    expect(new Set(now.map((pod) => deviceOf(pod).assumeTime)).size).toBe(18);
    const held = await storedClaims(plane, node);
    const pairs = (of: readonly (readonly (string | undefined)[])[]) => of.map((pair) => pair.join()).sort();
    expect(pairs(held.map(({ podUid, device }) => [podUid, device]))).toEqual(
      pairs(now.map((pod) => [pod.metadata.uid, deviceOf(pod).index])),
    );
    const most = peaks(await history.complete());
    expect(ids.map((id) => most.get(`${node}/${id}`))).toEqual(ids.map(() => 12));
  };

  describe("and hear of everything 5 seconds late", () => {
    beforeAll(() => {
      for (const { interposer } of [one, other]) interposer.watchDelay = 5_000;
    });
    afterAll(() => {
      for (const { interposer } of [one, other]) interposer.watchDelay = 0;
    });

    it("put exactly three pods of 4 on each of six devices of 12, both asked for each pod at once, and refuse a 19th", async () => {
      for (const { binder } of [one, other]) expect((await binder.get("/metrics")).text).toMatch(/^berth_leader 1$/m);
      const pods = await makeMany("called");
      await Promise.all(
        pods.map((pod) =>
          eventually(`${pod.metadata.name} is bound`, async (saw) => {
            const answers = await Promise.all([one, other].map(({ binder }) => askToBind(binder.url, pod, "called")));
            saw(answers);
            return answers.includes("");
          }),
        ),
      );
      const last = await make("called-last", 4);
      for (const { binder } of [one, other]) {
        expect(await askToBind(binder.url, last, "called")).toContain("no GPU with 4 aliyun.com/gpu-mem free");
      }
      await full("called", pods);
      expect((await get(last)).spec.nodeName).toBeUndefined();
    });

    it("do so too when each is asked by a kube-scheduler of its own", async () => {
      const names = ["left", "right"];
      for (const [index, { binder }] of [one, other].entries()) {
        const config = {
          extenders: [allVerbs(binder, "gpushare-scheduler")],
          profiles: profiles([names[index] ?? ""], { preemption: false }),
        };
        await startScheduler(plane, { version: versions[index] ?? versions[0] ?? "", config });
      }
      const spec = { nodeSelector: { "kubernetes.io/hostname": "scheduled" } };
      const pods = await makeMany("scheduled", (index) => ({ schedulerName: names[index % 2], spec }));
      await Promise.all(pods.map((pod) => placed(plane, pod)));
      const last = await make("scheduled-last", 4, { schedulerName: "left", spec });
      await refused(plane, last);
      await full("scheduled", pods);
      expect((await get(last)).spec.nodeName).toBeUndefined();
    });
  });

  /** Has the first binder asked, and the device given to another pod by the second one once the promise was taken back. */
  const outlive = async (node: string, stage: (pod: Pod, interposer: Interposer) => void) => {
    const pod = await make(`${node}-first`, 12);
    stage(pod, one.interposer);
    const started = Date.now();
    const answer = askToBind(one.binder.url, pod, node);
    await eventually("the promise is there", async () => (await storedClaims(plane, node)).length === 1);
    await eventually("the promise was taken back", async () => (await storedClaims(plane, node)).length === 0);
    expect((await get(pod)).metadata.annotations).toHaveProperty(["berth.dev/revoked"]);
    const heir = await make(`${node}-heir`, 12);
    expect(await askToBind(other.binder.url, heir, node)).toBe("");
    await eventually("twice the grace time is over", () => Date.now() - started >= 2 * GRACE_MS);
    return { pod, heir, answer };
  };
  const bindingsOf = ({ interposer }: Rival, pod: Pod): number[] =>
    interposer.answers.filter((answered) => isBinding(answered, pod.metadata.name)).map(({ status }) => status);
  const untouched = async (node: string, { pod, heir }: { pod: Pod; heir: Pod }): Promise<void> => {
    expect((await get(pod)).spec.nodeName).toBeUndefined();
    expect((await storedClaims(plane, node)).map(({ podUid }) => podUid)).toEqual([heir.metadata.uid]);
    expect(peaks(await history.complete()).get(`${node}/0`)).toBe(12);
  };

  it("have a Binding refused by the API server that is delivered after the grace time", async () => {
    const delivery = Promise.withResolvers<"deliver">();
    const after = await outlive("late", (pod, interposer) => {
      interposer.before = (passing) => (isBinding(passing, pod.metadata.name) ? delivery.promise : undefined);
    });
    expect(await after.answer).toContain("the Binding was lost; it may have taken effect");
    delivery.resolve("deliver");
    await eventually("it was answered", () => bindingsOf(one, after.pod).length > 0);
    expect(bindingsOf(one, after.pod)).toEqual([409]);
    await untouched("late", after);
  });

  it("lose nothing when one is stopped after its claim was written, and goes on after twice the grace time", async () => {
    const after = await outlive("frozen-before", (pod, interposer) => {
      interposer.after = async (answered) => {
        if (isClaim(answered, pod.metadata.uid ?? "")) one.binder.process.signal("SIGSTOP");
      };
    });
    one.interposer.after = () => undefined;
    one.binder.process.signal("SIGCONT");
    expect(await after.answer).not.toBe("");
    expect(bindingsOf(one, after.pod)).not.toContain(201);
    await untouched("frozen-before", after);
  });

  it("lose nothing when one is stopped at its Binding, and goes on after twice the grace time", async () => {
    const delivery = Promise.withResolvers<"deliver">();
    const after = await outlive("frozen-after", (pod, interposer) => {
      interposer.before = (passing) => {
        if (!isBinding(passing, pod.metadata.name)) return undefined;
        one.binder.process.signal("SIGSTOP");
        return delivery.promise;
      };
    });
    one.binder.process.signal("SIGCONT");
    delivery.resolve("deliver");
    expect(await after.answer).not.toBe("");
    await eventually("it was answered", () => bindingsOf(one, after.pod).length > 0);
    expect(bindingsOf(one, after.pod)[0]).toBe(409);
    await untouched("frozen-after", after);
  });
});
