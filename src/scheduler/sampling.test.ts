import { describe, expect, it } from "vitest";
import { enoughNodes, highest, inTurns, seededRandom } from "./sampling.ts";

describe("sampling", () => {
  it.each([
    [0, 0, 0],
    [0, 99, 99],
    [0, 100, 100],
    [0, 200, 100],
    [0, 1_000, 420],
    [0, 5_000, 500],
    [0, 10_000, 500],
    [30, 1_000, 300],
    [1, 1_000, 100],
    [100, 1_000, 1_000],
  ])(
    "with %i percent asked for of %i nodes, %i that fit are enough, as kube-scheduler reckons",
    (percentage, nodes, enough) => {
      expect(enoughNodes(percentage, nodes)).toBe(enough);
    },
  );

  it("chooses among the best by chance, each as often as the others", () => {
    const random = seededRandom(7);
    const chosen = Array.from({ length: 3_000 }, () => highest([5, 9, 9, 9], random));
    const counts = [0, 1, 2, 3].map((index) => chosen.filter((each) => each === index).length);
    expect(counts[0]).toBe(0);
    for (const count of counts.slice(1)) expect(count).toBeGreaterThan(900);
    expect(highest([], random)).toBe(-1);
    expect(highest([0], random)).toBe(0);
  });

  it("chooses in the same way for the same seed", () => {
    const choices = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 20 }, () => highest([1, 1, 1, 1], random));
    };
    expect(choices(1)).toEqual(choices(1));
    expect(choices(1)).not.toEqual(choices(2));
  });

  it("takes groups in turns", () => {
    expect(inTurns(["a1", "a2", "b1", "a3", "c1"], ([group]) => group ?? "")).toEqual(["a1", "b1", "c1", "a2", "a3"]);
  });
});
