import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gpuClaim, gpuNode, gpuPod, type PodSketch } from "./gpu-fixture.ts";
import { chooseDevice, heldByDevice } from "./holdings.ts";
import type { PlacedNode } from "./model.ts";
import { devicesOf, type Presence, usageOf } from "./usage.ts";

const node = gpuNode("n", [3, 30]);
const bound = (uid: string, gpu: number, device?: number, more: Partial<PodSketch> = {}) =>
  gpuPod({ uid, gpu, node: "n", ...(device !== undefined && { device }), ...more });
type Step = { readonly request: number; readonly as: string; readonly leave: boolean };
const used = (...[presence, viewpoint]: [Partial<Parameters<typeof usageOf>[1]>, Parameters<typeof usageOf>[2]?]) => {
  const usage = usageOf(node, { pods: [], claims: [], ...presence }, viewpoint);
  return node.devices.map(({ id }) => Number(usage.used(id)));
};

describe("who holds device memory", () => {
  it("are bound pods, with the amount and on the device of their annotations", () => {
    expect(used({ pods: [bound("a", 4, 0), bound("b", 3, 0), bound("c", 5, 2)] })).toEqual([7, 0, 5]);
  });

  it("are claims of pods that are not bound here yet", () => {
    expect(used({ pods: [bound("a", 4, 0)], claims: [gpuClaim("b", 1, 6)] })).toEqual([4, 6, 0]);
  });

  it("are counted once when a pod is bound and claimed, as the bound pod says", () => {
    expect(used({ pods: [bound("a", 4, 0)], claims: [gpuClaim("a", 0, 4)] })).toEqual([4, 0, 0]);
    expect(used({ pods: [bound("a", 4, 0)], claims: [gpuClaim("a", 1, 4)] })).toEqual([4, 0, 0]);
    expect(used({ claims: [gpuClaim("a", 1, 4), gpuClaim("a", 1, 6)] })).toEqual([0, 6, 0]);
  });

  it("are terminating pods until they are gone, and no pods in a terminal phase, nor their claims", () => {
    const claims = [gpuClaim("b", 1, 4), gpuClaim("c", 2, 4)];
    const pods = [
      bound("a", 4, 0, { terminating: true }),
      bound("b", 4, 1, { phase: "Succeeded" }),
      bound("c", 4, 2, { phase: "Failed" }),
    ];
    expect(used({ pods, claims })).toEqual([4, 0, 0]);
  });

  it("is a GPU pod without our annotations on every device (gpushare #80)", () => {
    expect(used({ pods: [bound("a", 4), bound("b", 3, 1)] })).toEqual([4, 7, 4]);
  });

  it("is one whose annotations name no device of the node on every device, with all that it asks for", () => {
    expect(used({ pods: [bound("a", 4, 9)] })).toEqual([4, 4, 4]);
    expect(used({ claims: [gpuClaim("a", 9, 4)] })).toEqual([4, 4, 4]);
  });

  it("are no pods that ask for no GPU memory, or are bound to another node", () => {
    expect(
      used({ pods: [gpuPod({ uid: "a", node: "n" }), gpuPod({ uid: "b", gpu: 4, node: "m", device: 0 })] }),
    ).toEqual([0, 0, 0]);
  });

  it("are neither the pod that asks nor those imagined gone, with what they claim", () => {
    const presence = { pods: [bound("a", 4, 0), bound("b", 3, 0)], claims: [gpuClaim("c", 1, 6), gpuClaim("a", 0, 4)] };
    expect(used(presence, { for: { uid: "c", priority: 0 } })).toEqual([7, 0, 0]);
    expect(used(presence, { without: new Set(["a", "c"]) })).toEqual([3, 0, 0]);
  });

  it("are told by device, for the choice of victims", () => {
    const usage = usageOf(node, { pods: [bound("a", 4, 0), bound("b", 3)], claims: [gpuClaim("c", 1, 6)] });
    expect(heldByDevice(node, usage)).toEqual([
      new Map([
        ["a", 4n],
        ["b", 3n],
      ]),
      new Map([
        ["b", 3n],
        ["c", 6n],
      ]),
      new Map([["b", 3n]]),
    ]);
  });
});

describe("pods placed one after another", () => {
  const shape = fc.record({ count: fc.integer({ min: 1, max: 5 }), total: fc.integer({ min: 0, max: 60 }) });
  const step = fc.record({
    request: fc.integer({ min: 1, max: 12 }),
    as: fc.constantFrom("claim", "bound", "both"),
    leave: fc.boolean(),
  });

  /** The pod of a step takes its device; then, in some steps, one that came earlier goes. */
  function walk(
    target: PlacedNode,
    { pods, claims }: Presence,
    [{ request, as, leave }, index]: [Step, number],
  ): Presence {
    const uid = `u${index}`;
    const slot = chooseDevice(target, usageOf(target, { pods, claims }), BigInt(request));
    const bound = slot && as !== "claim" ? [gpuPod({ uid, gpu: request, node: "n", device: slot.id })] : [];
    const claimed = slot && as !== "bound" ? [gpuClaim(uid, slot.id, request)] : [];
    const stays = (each: string) => !leave || each !== `u${index >> 1}`;
    return {
      pods: [...pods, ...bound].filter((pod) => stays(pod.uid)),
      claims: [...claims, ...claimed].filter((claim) => stays(claim.podUid)),
    };
  }

  it("never fill a device beyond its capacity, whether a pod is claimed, bound or both", () => {
    fc.assert(
      fc.property(shape, fc.array(step, { maxLength: 30 }), ({ count, total }, steps) => {
        const target = gpuNode("n", [count, total]);
        let presence: Presence = { pods: [], claims: [] };
        for (const [index, each] of steps.entries()) {
          presence = walk(target, presence, [each, index]);
          const usage = usageOf(target, presence);
          for (const { id, total } of target.devices) expect(usage.used(id)).toBeLessThanOrEqual(total);
        }
      }),
    );
  });

  it("are counted once on a device, however often bound pods and claims name them", () => {
    const holder = fc.record({ pod: fc.integer({ min: 0, max: 4 }), claimed: fc.boolean(), bound: fc.boolean() });
    fc.assert(
      fc.property(fc.array(holder, { maxLength: 12 }), (holders) => {
        const amount = (pod: number) => pod + 1;
        const pods = holders.filter((each) => each.bound).map(({ pod }) => pod);
        const claims = holders.filter((each) => each.claimed).map(({ pod }) => gpuClaim(`u${pod}`, 0, amount(pod)));
        const once = [...new Set(pods)].map((pod) =>
          gpuPod({ uid: `u${pod}`, gpu: amount(pod), node: "n", device: 0 }),
        );
        const named = new Set(holders.filter((each) => each.bound || each.claimed).map(({ pod }) => pod));
        const expected = [...named].reduce((sum, pod) => sum + amount(pod), 0);
        expect(usageOf(node, { pods: once, claims }).used("0")).toBe(BigInt(expected));
      }),
    );
  });

  it("fit three of five pods of 3 units on one card of 10 (topolvm #117)", () => {
    const card = gpuNode("n", [1, 10]);
    const pods: ReturnType<typeof gpuPod>[] = [];
    for (const uid of ["a", "b", "c", "d", "e"]) {
      const slot = chooseDevice(card, usageOf(card, { pods, claims: [] }), 3n);
      if (slot) pods.push(gpuPod({ uid, gpu: 3, node: "n", device: slot.id }));
    }
    expect(pods.map(({ uid }) => uid)).toEqual(["a", "b", "c"]);
  });
});

describe("the devices that the policy sees", () => {
  it("are the node's own, with what is used and whether they are healthy", () => {
    const sick = gpuNode("n", [2, 20], ["1"]);
    const usage = usageOf(sick, { pods: [bound("a", 4, 0)], claims: [] });
    expect(devicesOf(sick, usage, 7)).toEqual({
      generation: 7,
      devices: {
        "aliyun.com/gpu-mem": [
          { id: "0", total: 10n, used: 4n, healthy: true },
          { id: "1", total: 10n, used: 0n, healthy: false },
        ],
      },
    });
  });

  it("are none of any resource on a node without GPUs", () => {
    const plain = gpuNode("n", [0, 0]);
    expect(devicesOf(plain, usageOf(plain, { pods: [], claims: [] }))).toEqual({ generation: 0, devices: {} });
  });
});
