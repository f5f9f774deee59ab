import { expect, test } from "vitest";
import { Unreadable } from "../view.ts";
import { commitments, prices, zones } from "./fleet.ts";

const facts = {
  prices: [{ match: { type: "m5" }, perHour: 0.25 }],
  commitments: [{ name: "reserved", match: { pool: "a" } }],
  zones: { "eu-1": { closed: true }, "eu-2": { carbon: 48.5 } },
};

test("prices and commitments are looked up by a node's labels", () => {
  const priced = prices.read?.(facts, 0);
  const paid = commitments.read?.(facts, 0);
  if (priced instanceof Unreadable || paid instanceof Unreadable) throw new Error("the facts are good");
  expect(priced?.perHour({ type: "m5", zone: "eu-1" })).toBe(0.25);
  expect(priced?.perHour({ type: "c7" })).toBeUndefined();
  expect(paid?.find({ pool: "a" })?.name).toBe("reserved");
  expect(paid?.find({ pool: "b" })).toBeUndefined();
  expect(priced?.labelKeys.concat(paid?.labelKeys ?? [])).toEqual(["type", "pool"]);
});

test("a zone is open unless the facts close it", () => {
  expect(zones.read?.(facts, 0)).toEqual({ "eu-1": { closed: true }, "eu-2": { closed: false, carbon: 48.5 } });
});

test("sections that are left out are empty", () => {
  expect(prices.read?.({}, 0)).toMatchObject({ rows: [] });
  expect(commitments.read?.({}, 0)).toMatchObject({ rows: [] });
  expect(zones.read?.({}, 0)).toEqual({});
});

test("facts that nobody has checked are refused by section", () => {
  const problem = "is not what the schema of facts.json allows";
  expect(prices.read?.({ prices: [{ match: {}, perHour: "1" }] }, 0)).toEqual(new Unreadable("prices", problem));
  expect(zones.read?.({ zones: { a: { shut: true } } }, 0)).toEqual(new Unreadable("zones", problem));
});
