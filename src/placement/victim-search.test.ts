import { describe, expect, it } from "vitest";
import type { Cost } from "./candidate.ts";
import { cheapestItems, freeingByAsking, freeingBySum, type Item, type Search } from "./victim-search.ts";

const item = (uid: string, amount: number, more: Partial<Item> = {}): Item => ({
  ...{ uid, priority: 0, started: 0, leaving: false, budgets: [] },
  amount: BigInt(amount),
  ...more,
});

const sum = (items: readonly Item[]) => items.reduce((total, { amount }) => total + Number(amount), 0);

function search(items: readonly Item[], needed: number, more: Partial<Search> = {}): Search {
  const freeing = freeingBySum((chosen) => sum(chosen) >= needed);
  return { going: [], items, allowed: [], freeing, steps: 10_000, ...more };
}

const uids = (found: ReturnType<typeof cheapestItems>) => found?.chosen.map(({ uid }) => uid);

describe("the cheapest items that free a device", () => {
  it("are each needed: none can be given back", () => {
    expect(uids(cheapestItems(search([item("a", 1), item("b", 2), item("c", 6)], 6), undefined))).toEqual(["c"]);
  });

  it("are none when all of them are not enough", () => {
    expect(cheapestItems(search([item("a", 1), item("b", 2)], 4), undefined)).toBeUndefined();
  });

  it("are none when none are cheaper than the bound", () => {
    const bound: Cost = { violations: 0, highest: 0, sum: 2 ** 31, pods: 1, started: 0 };
    expect(cheapestItems(search([item("a", 4)], 4), bound)).toBeUndefined();
    expect(uids(cheapestItems(search([item("a", 4, { started: 1 })], 4), bound))).toEqual(["a"]);
  });

  it("are found although a lower start of the first pods says nothing about a higher priority to come", () => {
    const items = [item("early", 2, { started: 1 }), item("high", 2, { priority: 5, started: 9 })];
    const bound: Cost = { violations: 0, highest: 5, sum: 2 * 2 ** 31 + 5, pods: 2, started: 4 };
    expect(uids(cheapestItems(search(items, 4), bound))).toEqual(["early", "high"]);
  });

  it("are found although a further victim lowers the violations of overlapping budgets", () => {
    const items = [
      item("p", 1, { budgets: [0, 1, 2] }),
      item("q", 1, { budgets: [1] }),
      item("r", 1, { budgets: [2] }),
      item("x", 1, { priority: 1, budgets: [0] }),
    ];
    const bound: Cost = { violations: 1, highest: 9, sum: 0, pods: 0, started: 0 };
    const found = cheapestItems(search(items, 4, { allowed: [1, 1, 1] }), bound);
    expect(found?.cost.violations).toBe(1);
  });

  it("stay needed although an unneeded victim would lower the violations of overlapping budgets", () => {
    const items = [
      item("x", 5, { priority: 1, budgets: [0] }),
      item("p", 20, { budgets: [0, 1, 2] }),
      item("q", 10, { budgets: [1] }),
      item("r", 10, { budgets: [2] }),
    ];
    expect(uids(cheapestItems(search(items, 40, { allowed: [1, 1, 1] }), undefined))).toEqual(["p", "q", "r"]);
  });

  it("are what sparing the costliest first leaves, when there are no steps for more", () => {
    const large = [item("x", 2, { started: 1 }), item("y", 2, { started: 2 })];
    const items = [...large, ...["a", "b", "c", "d"].map((uid, index) => item(uid, 1, { started: 3 + index }))];
    expect(uids(cheapestItems(search(items, 4, { steps: 0 }), undefined))).toEqual(["a", "b", "c", "d"]);
    expect(uids(cheapestItems(search(items, 4), undefined))).toEqual(["x", "y"]);
  });

  it("are found among hundreds in few steps and with few questions", () => {
    let asked = 0;
    const freeing = freeingBySum((chosen) => {
      asked++;
      return sum(chosen) >= 150;
    });
    const items = Array.from({ length: 300 }, (_, index) => item(`u${index}`, 1, { started: index }));
    const found = cheapestItems(search(items, 150, { freeing, steps: 1000 }), undefined);
    expect(uids(found)).toEqual(items.slice(150).map(({ uid }) => uid));
    expect(asked).toBeLessThan(200);
  });
});

describe("whether a device is free enough", () => {
  it("is asked once for a sum and answered from then on, for all that is more or less", () => {
    const asked: number[] = [];
    const freeing = freeingBySum((chosen) => {
      asked.push(sum(chosen));
      return sum(chosen) >= 5;
    });
    const enough = (...amounts: number[]) => freeing.enough(amounts.map((amount) => item(`${amount}`, amount)));
    expect([enough(3), enough(7), enough(2), enough(4, 4), enough(3), enough(5), enough(6)]).toEqual([
      ...[false, true, false, true, false, true, true],
    ]);
    expect(asked).toEqual([3, 7, 5]);
  });

  it("tells what is known to be missing at least", () => {
    const freeing = freeingBySum((chosen) => sum(chosen) >= 5);
    expect(freeing.missing([])).toBe(1n);
    freeing.enough([item("a", 4)]);
    expect(freeing.missing([])).toBe(5n);
    expect(freeing.missing([item("b", 2)])).toBe(3n);
  });

  it("is asked every time where items hold some of other devices too", () => {
    let asked = 0;
    const freeing = freeingByAsking(() => {
      asked++;
      return true;
    });
    freeing.enough([item("a", 4)]);
    freeing.enough([item("a", 4)]);
    expect([asked, freeing.missing([])]).toEqual([2, 1n]);
  });
});
