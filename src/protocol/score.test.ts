import fc from "fast-check";
import { expect, test } from "vitest";
import { extenderScore } from "./score.ts";

const anyMean = fc.oneof(fc.double(), fc.double({ min: -20, max: 120 }), fc.integer({ min: -5, max: 105 }));

test.each([
  [0, 0],
  [4.9, 0],
  [5, 1],
  [54.9, 5],
  [55, 6],
  [94.9, 9],
  [95, 10],
  [100, 10],
  [-0, 0],
  [-1, 0],
  [-4, 0],
  [250, 10],
  [Number.NaN, 0],
  [Number.POSITIVE_INFINITY, 10],
  [Number.NEGATIVE_INFINITY, 0],
])("A mean of %d goes on the wire as %d", (mean, score) => {
  expect(extenderScore(mean)).toBe(score);
});

test("A score is always an integer 0…10 in plain notation, whatever the mean", () => {
  fc.assert(
    fc.property(anyMean, (mean) => {
      expect(JSON.stringify(extenderScore(mean))).toMatch(/^(?:\d|10)$/);
    }),
    { numRuns: 5000 },
  );
});

test("A better mean never gets a lower score", () => {
  fc.assert(
    fc.property(anyMean, anyMean, (a, b) => {
      fc.pre(!Number.isNaN(a) && !Number.isNaN(b));
      expect(extenderScore(Math.max(a, b))).toBeGreaterThanOrEqual(extenderScore(Math.min(a, b)));
    }),
    { numRuns: 5000 },
  );
});

test("A score is never further from its mean than half a step", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100, noNaN: true }), (mean) => {
      expect(Math.abs(extenderScore(mean) * 10 - mean)).toBeLessThanOrEqual(5.000001);
    }),
  );
});
