import fc from "fast-check";
import { expect, test } from "vitest";
import { type Matching, MatchTable } from "./match-table.ts";

const keys = fc.constantFrom("type", "zone", "capacity", "pool");
const values = fc.constantFrom("a", "b", "c", "");
const labels = fc.dictionary(keys, values);
const rows = fc.array(labels, { maxLength: 12 }).map((all) => all.map((match, id) => ({ id, match })));

/** What the table promises, said the slow way: look at every row. */
function slowly<R extends Matching>(table: readonly R[], node: Record<string, string>): R | undefined {
  const matching = table.filter(({ match }) => Object.entries(match).every(([key, value]) => node[key] === value));
  const most = Math.max(...matching.map(({ match }) => Object.keys(match).length));
  return matching.find(({ match }) => Object.keys(match).length === most);
}

test("the row with the most labels wins, and the first of several that have as many", () => {
  fc.assert(
    fc.property(rows, labels, (table, node) => {
      expect(new MatchTable(table).find(node)).toBe(slowly(table, node));
    }),
    { numRuns: 1000 },
  );
});

test("of two rows that name other labels, but as many, the one that stands first wins", () => {
  const zone = { match: { zone: "eu-1" }, id: "zone" };
  const type = { match: { type: "m5" }, id: "type" };
  const node = { zone: "eu-1", type: "m5" };
  expect(new MatchTable([zone, type]).find(node)?.id).toBe("zone");
  expect(new MatchTable([type, zone]).find(node)?.id).toBe("type");
});

test("a row without labels speaks for every node that no other row matches", () => {
  const table = new MatchTable([{ match: {} }, { match: { zone: "eu-1" } }]);
  expect(table.find({ zone: "eu-2" })).toEqual({ match: {} });
  expect(table.find({ zone: "eu-1" })).toEqual({ match: { zone: "eu-1" } });
});

test("an absent label is not an empty one", () => {
  expect(new MatchTable([{ match: { zone: "" } }]).find({})).toBeUndefined();
  expect(new MatchTable([{ match: { zone: "" } }]).find({ zone: "" })).toBeDefined();
});

test("values cannot be mistaken for others by the characters in them", () => {
  const table = new MatchTable([{ match: { a: 'x","y', b: "z" } }]);
  expect(table.find({ a: "x", b: 'y","z' })).toBeUndefined();
});

test("it names every label that a row looks at, once and in order", () => {
  const table = new MatchTable([{ match: { zone: "1", type: "m5" } }, { match: { zone: "2", arch: "arm64" } }]);
  expect(table.labelKeys).toEqual(["arch", "type", "zone"]);
});

test("as JSON it is its rows", () => {
  const rows = [{ match: { zone: "1" }, perHour: 2 }];
  expect(JSON.parse(JSON.stringify(new MatchTable(rows)))).toEqual(rows);
});

test("a lookup does not look at every row", () => {
  let reads = 0;
  const rows = Array.from({ length: 1000 }, (_, index) => ({
    match: { type: `m${index}` },
    get perHour() {
      reads++;
      return index;
    },
  }));
  const table = new MatchTable(rows);
  const node = new Proxy<Record<string, string>>(
    { type: "m999" },
    {
      get: (labels, key) => {
        reads++;
        return labels[String(key)];
      },
    },
  );
  expect(table.find(node)?.perHour).toBe(999);
  expect(reads).toBeLessThan(5);
});
