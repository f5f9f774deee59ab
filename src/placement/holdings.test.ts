import { describe, expect, it } from "vitest";
import { gpuNode, gpuPod } from "./gpu-fixture.ts";
import { chooseDevice, freeOf, usageOfHolders } from "./holdings.ts";
import { usageOf } from "./usage.ts";

const node = gpuNode("n", [3, 30]);

describe("what a device has free", () => {
  it("is nothing when it holds more than it has, not a huge number", () => {
    const usage = usageOf(node, { pods: [gpuPod({ uid: "a", gpu: 25, node: "n", device: 0 })], claims: [] });
    expect(node.devices.map((slot) => freeOf(slot, usage))).toEqual([0n, 10n, 10n]);
  });

  it("is nothing when it is unhealthy", () => {
    const sick = gpuNode("n", [2, 20], ["0"]);
    const usage = usageOf(sick, { pods: [], claims: [] });
    expect(sick.devices.map((slot) => freeOf(slot, usage))).toEqual([0n, 10n]);
  });
});

describe("the device that is chosen", () => {
  const choose = (request: number, frees: readonly number[], unhealthy: string[] = []) => {
    const target = gpuNode("n", [frees.length, frees.length * 10], unhealthy);
    const holders = frees.map((free, device) => ({
      ...{ uid: `u${device}`, namespace: "", name: "", by: "pod" as const },
      device: String(device),
      amount: BigInt(10 - free),
    }));
    return chooseDevice(target, usageOfHolders(holders), BigInt(request))?.id;
  };

  it("is the one with the smallest free memory that is enough", () => {
    expect(choose(3, [10, 3, 5])).toBe("1");
    expect(choose(4, [10, 3, 5])).toBe("2");
    expect(choose(6, [10, 3, 5])).toBe("0");
  });

  it("is the lowest id of several, as a number", () => {
    expect(choose(4, [2, 6, 6])).toBe("1");
    expect(
      choose(
        4,
        [...Array.from({ length: 9 }, () => 0), 0, 5, 5].map((free, id) => (id === 2 ? 5 : free)),
      ),
    ).toBe("2");
  });

  it("is none when no device has enough, whatever all of them have together", () => {
    expect(choose(6, [5, 5, 5])).toBeUndefined();
  });

  it("is never an unhealthy one", () => {
    expect(choose(4, [4, 10, 10], ["0"])).toBe("1");
    expect(choose(4, [4], ["0"])).toBeUndefined();
    expect(choose(0, [4], ["0"])).toBeUndefined();
  });
});
