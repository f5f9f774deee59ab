import { describe, expect, test } from "vitest";
import * as z from "zod";
import { checkFacts, fleetFacts, PriceTable } from "./facts.ts";
import { formatPath } from "./faults.ts";

const head = { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" };

function faults(data: unknown): string[] {
  const checked = checkFacts(data);
  return "faults" in checked ? checked.faults.map(({ path, message }) => `${formatPath(path)}: ${message}`) : [];
}

describe("facts.json", () => {
  test("may leave out every section", () => {
    expect(checkFacts(head)).toEqual({ value: head });
  });

  test("holds prices, commitments and zones", () => {
    const facts = {
      ...head,
      currency: "EUR",
      prices: [
        { match: {}, perHour: 0.5 },
        {
          match: { "node.kubernetes.io/instance-type": "m5.large", "topology.kubernetes.io/zone": "eu-1a" },
          perHour: 0,
        },
      ],
      commitments: [{ name: "three years", match: { pool: "reserved" } }],
      zones: { "eu-1a": { closed: true }, "eu-1b": { closed: false, carbon: 48.5 } },
    };
    expect(checkFacts(facts)).toEqual({ value: facts });
  });

  test("has every fault told at once", () => {
    expect(
      faults({
        ...head,
        kind: "Facts",
        price: [],
        prices: [{ match: { zone: 1 }, perHour: -1 }, { perHour: "free" }],
        commitments: [{ name: "", match: {} }],
        zones: { "eu-1": { carbon: -1, open: true }, "": {} },
      }),
    ).toEqual([
      'kind: must be FleetFacts, not "Facts"',
      "prices[0].match.zone: must be a text, not 1",
      "prices[0].perHour: must be at least 0",
      "prices[1].match: is missing, it must be a map",
      'prices[1].perHour: must be a number, not "free"',
      "commitments[0].name: must not be empty",
      "commitments[0].match: must name at least one label",
      "zones.eu-1.carbon: must be at least 0",
      "zones.eu-1.open: unknown key, known here: closed, carbon",
      'zones[""]: key must not be empty',
      "price: unknown key, did you mean prices? known here: apiVersion, kind, currency, prices, commitments, zones",
    ]);
  });

  test("cannot price the same labels twice, in whatever order they stand", () => {
    const match = { zone: "eu-1", type: "m5" };
    const again = { type: "m5", zone: "eu-1" };
    expect(
      faults({
        ...head,
        prices: [
          { match: {}, perHour: 1 },
          { match, perHour: 1 },
          { match: again, perHour: 2 },
        ],
      }),
    ).toEqual(["prices[2].match: is the same as in prices[1]"]);
  });

  test("cannot name two commitments alike", () => {
    const commitments = [
      { name: "one", match: { pool: "a" } },
      { name: "one", match: { pool: "b" } },
    ];
    expect(faults({ ...head, commitments })).toEqual(["commitments[1].name: is the same as in commitments[0]"]);
  });

  test.each([
    [null],
    [[]],
    ["x"],
    [5],
    [{ ...head, prices: null }],
    [{ ...head, prices: [null] }],
    [{ ...head, zones: [] }],
  ])("of the wrong shape is refused, not thrown over: %j", (data) => {
    expect(faults(data)).not.toEqual([]);
  });

  test("has a JSON Schema for editors", () => {
    expect(z.toJSONSchema(fleetFacts, { io: "input" })).toMatchObject({ required: ["apiVersion", "kind"] });
  });
});

describe("a price table", () => {
  const table = new PriceTable([
    { match: {}, perHour: 9 },
    { match: { type: "m5" }, perHour: 2 },
    { match: { type: "m5", capacity: "spot" }, perHour: 1 },
  ]);

  test("prices a node by the most labels that it has", () => {
    expect(table.perHour({ type: "m5", capacity: "spot", arch: "arm64" })).toBe(1);
    expect(table.perHour({ type: "m5", capacity: "on-demand" })).toBe(2);
    expect(table.perHour({ type: "c7" })).toBe(9);
  });

  test("has no price for a node that no row matches", () => {
    expect(new PriceTable([{ match: { type: "m5" }, perHour: 2 }]).perHour({ type: "c7" })).toBeUndefined();
  });
});
