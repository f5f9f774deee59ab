import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decision } from "../extender/decider.ts";
import type { Row } from "../policy/run.ts";
import { compare } from "./shadow-compare.ts";

const COLUMNS = [
  { plugin: "Cost", weight: 1, scale: "none" },
  { plugin: "Rack", weight: 3, scale: "none" },
] as const;

const no = (plugin: string): Row => ({ refusal: { plugin, reason: "no", unresolvable: true } });

function decision(...rows: (Row | readonly number[])[]): Decision {
  return { columns: COLUMNS, rows: rows.map((row) => (Array.isArray(row) ? { scores: row } : row) as Row) };
}

describe("Two decisions about the same pod and nodes", () => {
  test("that say the same do not differ", () => {
    const one = decision([100, 0], no("Rack"), [0, 100]);
    expect(compare(one, decision([100, 0], no("Cost"), [0, 100]))).toEqual([]);
  });

  test("differ in a verdict where one keeps a node that the other refuses, by the plugin that refuses it", () => {
    const one = decision([100, 0], no("Rack"), [50, 50], no("Cost"));
    const other = decision([100, 0], [0, 0], [50, 50], [0, 0]);
    expect(compare(one, other)).toEqual([{ kind: "verdict", plugins: ["Rack", "Cost"], nodes: [1, 3] }]);
  });

  test("differ in their order where other nodes are best, by the plugins that score otherwise", () => {
    const one = decision([100, 0], [0, 100], [0, 50]);
    const other = decision([100, 100], [0, 0], [0, 50]);
    expect(compare(one, other)).toEqual([{ kind: "order", plugins: ["Rack"], nodes: [1, 0] }]);
  });

  test("differ in their order by a weight too, and by a plugin that only one has", () => {
    const rows = [{ scores: [100, 0] }, { scores: [0, 60] }];
    const one = { columns: COLUMNS, rows };
    const other = { columns: [{ ...COLUMNS[0], weight: 9 }, COLUMNS[1]], rows };
    expect(compare(one, other)).toMatchObject([{ kind: "order", plugins: ["Cost"] }]);
    const alone = { columns: [COLUMNS[0]], rows: [{ scores: [100] }, { scores: [0] }] };
    expect(compare(one, alone)).toMatchObject([{ kind: "order", plugins: ["Rack"] }]);
  });

  test("differ in their order exactly when the best differ or two nodes stand the other way round", () => {
    const score = fc.integer({ min: 0, max: 10 });
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { minLength: 2, maxLength: 8 }), (pairs) => {
        const columns = [{ plugin: "Cost", weight: 1, scale: "none" }] as const;
        const of = (side: 0 | 1): Decision => ({ columns, rows: pairs.map((pair) => ({ scores: [pair[side] * 10] })) });
        const best = (side: 0 | 1) => Math.max(...pairs.map((pair) => pair[side]));
        const otherBest = pairs.some(([a, b]) => (a === best(0)) !== (b === best(1)));
        const turned = pairs.some(([a, b]) => pairs.some(([c, d]) => a > c && b < d));
        expect(compare(of(0), of(1)).length === 1).toBe(otherBest || turned);
      }),
    );
  });
});
