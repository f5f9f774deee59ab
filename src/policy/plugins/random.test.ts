import { describe, expect, it } from "vitest";
import { random } from "./random.ts";

function scores(uid: string, nodes: number): number[] {
  const judge = random.prepare({}, { uid }, {});
  return Array.from({ length: nodes }, (_, index) => judge.score?.({ name: `node-${index}` }) ?? -1);
}

describe("Random", () => {
  it("gives a pod the same scores each time it is asked", () => {
    expect(scores("uid-1", 50)).toEqual(scores("uid-1", 50));
  });

  it("gives two pods other scores", () => {
    expect(scores("uid-1", 50)).not.toEqual(scores("uid-2", 50));
  });

  it("stays within 0 and 100 and makes each of a hundred nodes the best one for some of ten thousand pods, none for many", () => {
    const best = new Array<number>(100).fill(0);
    for (let pod = 0; pod < 10_000; pod++) {
      const all = scores(`pod-${pod}`, 100);
      expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...all)).toBeLessThanOrEqual(100);
      const at = all.indexOf(Math.max(...all));
      best[at] = (best[at] ?? 0) + 1;
    }
    expect(Math.min(...best)).toBeGreaterThan(30);
    expect(Math.max(...best)).toBeLessThan(300);
  });

  it("is near: a pod's UID is never remembered", () => {
    expect(random.reads({}, {} as never).pod?.uid.pace).toBe("fast");
  });
});
