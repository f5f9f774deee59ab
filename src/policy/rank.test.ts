import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scale } from "./plugin.ts";
import { type Column, rank, scaleScores, weightedMeans, weightedSums } from "./rank.ts";

const scales: readonly Scale[] = ["none", "max", "max-reversed", "range", "range-reversed", "list"];
const rawScore = fc.option(fc.double({ min: -1e12, max: 1e12, noNaN: true }), { nil: undefined });

describe("scaling one plugin's scores", () => {
  it("leaves scores of scale none and list as they are, within 0 and 100", () => {
    expect(scaleScores("none", [0, 42, 100, 250, -3])).toEqual([0, 42, 100, 100, 0]);
    expect(scaleScores("list", [7, 8])).toEqual([7, 8]);
  });

  it("makes the highest raw score 100 and keeps zero at zero with max", () => {
    expect(scaleScores("max", [0, 5, 10])).toEqual([0, 50, 100]);
    expect(scaleScores("max-reversed", [0, 5, 10])).toEqual([100, 50, 0]);
  });

  it("gives whole numbers with max, cut off as kube-scheduler cuts them off", () => {
    expect(scaleScores("max", [1, 2, 3])).toEqual([33, 66, 100]);
    expect(scaleScores("max-reversed", [1, 2, 3])).toEqual([67, 34, 0]);
    expect(scaleScores("max-reversed", [0, 0])).toEqual([100, 100]);
  });

  it("stretches the scores between the lowest and the highest with range", () => {
    expect(scaleScores("range", [2, 3, 4])).toEqual([0, 50, 100]);
    expect(scaleScores("range-reversed", [2, 3, 4])).toEqual([100, 50, 0]);
  });

  it("calls equal nodes equally good", () => {
    expect(scaleScores("range", [3, 3])).toEqual([100, 100]);
    expect(scaleScores("range-reversed", [3, 3])).toEqual([100, 100]);
    expect(scaleScores("max", [0, 0])).toEqual([0, 0]);
  });

  it("gives 0 where nothing is known or the number is none, without moving the others", () => {
    expect(scaleScores("range", [undefined, 1, Number.NaN, 3, Number.POSITIVE_INFINITY])).toEqual([0, 0, 0, 100, 0]);
    expect(scaleScores("range-reversed", [])).toEqual([]);
  });

  it("always stays within 0 and 100", () => {
    fc.assert(
      fc.property(fc.constantFrom(...scales), fc.array(rawScore), (scale, raw) => {
        for (const score of scaleScores(scale, raw)) expect(score >= 0 && score <= 100).toBe(true);
      }),
    );
  });
});

describe("ranking nodes", () => {
  it("scores three nodes at 10, 50 and 90 percent load 9, 5 and 1: absolute, best first, never 90, 50, 10", () => {
    const leastAllocated: Column = { plugin: "LeastAllocated", weight: 1, scale: "none" };
    expect(rank([leastAllocated], [[90], [50], [10]])).toEqual([9, 5, 1]);
  });

  it("weighs plugins by their weights", () => {
    const columns: Column[] = [
      { plugin: "A", weight: 3, scale: "none" },
      { plugin: "B", weight: 1, scale: "none" },
    ];
    expect(
      rank(columns, [
        [100, 0],
        [0, 100],
      ]),
    ).toEqual([8, 3]);
  });

  it("gives refused nodes 0 and scales the others without them", () => {
    const column: Column = { plugin: "Cost", weight: 1, scale: "range-reversed" };
    expect(rank([column], [undefined, [1], [5]])).toEqual([0, 10, 0]);
  });

  it("does not count the weight of a plugin that has nothing to say of this pod", () => {
    const columns: Column[] = [
      { plugin: "Silent", weight: 9, scale: "none" },
      { plugin: "Cost", weight: 1, scale: "range-reversed" },
    ];
    expect(
      rank(columns, [
        [undefined, 1],
        [undefined, 2],
      ]),
    ).toEqual([10, 0]);
  });

  it("gives 0 to every node when no plugin scores", () => {
    expect(rank([], [[], [], undefined])).toEqual([0, 0, 0]);
  });

  it("answers integers from 0 to 10 and never inverts the order of the means", () => {
    const column = fc.record({
      plugin: fc.string(),
      weight: fc.integer({ min: 1, max: 100 }),
      scale: fc.constantFrom(...scales),
    });
    const table = fc.array(column, { maxLength: 4 }).chain((columns) =>
      fc.record({
        columns: fc.constant(columns),
        rows: fc.array(
          fc.option(fc.array(rawScore, { minLength: columns.length, maxLength: columns.length }), { nil: undefined }),
          { maxLength: 20 },
        ),
      }),
    );
    fc.assert(
      fc.property(table, ({ columns, rows }) => {
        const means = weightedMeans(columns, rows);
        const scores = rank(columns, rows);
        expect(scores.every((score) => Number.isInteger(score) && score >= 0 && score <= 10)).toBe(true);
        const byMean = [...scores.keys()].sort((a, b) => (means[a] ?? 0) - (means[b] ?? 0)).map((node) => scores[node]);
        expect(byMean).toEqual([...scores].sort((a, b) => a - b));
      }),
    );
  });

  it("ranks two hundred thousand nodes without exhausting the stack", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [index]);
    const scores = rank([{ plugin: "A", weight: 1, scale: "range" }], rows);
    expect(scores.at(0)).toBe(0);
    expect(scores.at(-1)).toBe(10);
  });
});

describe("the sum that kube-scheduler compares nodes by", () => {
  it("is the weighted scaled scores of all plugins, of which one that knows nothing gives nothing", () => {
    const columns: Column[] = [
      { plugin: "A", weight: 3, scale: "max" },
      { plugin: "B", weight: 2, scale: "none" },
      { plugin: "C", weight: 5, scale: "none" },
    ];
    const rows = [[4, 50, undefined], [1, 10, undefined], undefined];
    expect(weightedSums(columns, rows)).toEqual([400, 95, 0]);
    expect(weightedMeans(columns, rows)).toEqual([80, 19, 0]);
  });
});
