import { describe, expect, test } from "vitest";
import * as z from "zod";
import { checkSchema, formatPath } from "./faults.ts";

function lines(schema: z.ZodType, data: unknown): string[] {
  const checked = checkSchema(schema)(data);
  return "faults" in checked ? checked.faults.map(({ path, message }) => `${formatPath(path)}: ${message}`) : [];
}

describe("a schema's check", () => {
  test("gives the value that the schema makes of good data", () => {
    const schema = z.strictObject({ weight: z.int().default(1) });
    expect(checkSchema(schema)({})).toEqual({ value: { weight: 1 } });
  });

  test("reports every fault at once, each at its path", () => {
    const schema = z.strictObject({ name: z.string(), list: z.array(z.strictObject({ weight: z.int().min(1) })) });
    expect(lines(schema, { list: [{ weight: 0 }, { weight: "2" }, {}] })).toEqual([
      "name: is missing, it must be a text",
      "list[0].weight: must be at least 1",
      'list[1].weight: must be a number, not "2"',
      "list[2].weight: is missing, it must be a number",
    ]);
  });

  test("reports every unknown key by itself, with the key that was probably meant", () => {
    const schema = z.strictObject({ name: z.string().optional(), weight: z.int().optional() });
    expect(lines(schema, { wieght: 1, colour: "red" })).toEqual([
      "wieght: unknown key, did you mean weight? known here: name, weight",
      "colour: unknown key, known here: name, weight",
    ]);
  });

  test("points at the key itself when the key is wrong", () => {
    const checked = checkSchema(z.strictObject({ rows: z.record(z.string().min(1), z.number()) }))({ rows: { "": 1 } });
    expect(checked).toEqual({ faults: [{ path: ["rows", ""], message: "key must not be empty", at: "key" }] });
  });

  test.each<[message: string, z.ZodType, unknown]>([
    ["must be a text, not 5", z.string(), 5],
    ["must be a number, not Infinity", z.number(), Number.POSITIVE_INFINITY],
    ["must be a whole number, not 1.5", z.int(), 1.5],
    ['must be true or false, not "yes"', z.boolean(), "yes"],
    ["must be a list, not null", z.array(z.string()), null],
    ["must be a map, not a list", z.record(z.string(), z.string()), []],
    ['must be v1, not "v2"', z.literal("v1"), "v2"],
    ['must be one of last, reject, not "first"', z.enum(["last", "reject"]), "first"],
    ["is missing, it must be one of last, reject", z.enum(["last", "reject"]), undefined],
    ["must be more than 0", z.number().gt(0), 0],
    ["must be at most 100", z.number().max(100), 101],
    ["must be less than 100", z.number().lt(100), 100],
    ["must not be empty", z.string().min(1), ""],
    ["must have at least 3 characters", z.string().min(3), "ab"],
    ["must have at most 1 characters", z.string().max(1), "ab"],
    ["must not be empty", z.array(z.string()).min(1), []],
    ["must have at least 2 entries", z.array(z.string()).min(2), ["a"]],
    ["must match /^a+$/", z.string().regex(/^a+$/), "b"],
    ["must be the letter a", z.string().regex(/^a+$/, "must be the letter a"), "b"],
    ["is not a valid url", z.url(), "x"],
    ["is reserved", z.string().refine(() => false, "is reserved"), "x"],
  ])("says after the place that it %s", (message, schema, data) => {
    expect(lines(schema, data)).toEqual([`: ${message}`]);
  });

  test("tells the faults of the one form that can have been meant", () => {
    const schema = z.union([z.string(), z.strictObject({ key: z.string(), port: z.int() })]);
    expect(lines(z.strictObject({ at: schema }), { at: { key: 1 } })).toEqual([
      "at.key: must be a text, not 1",
      "at.port: is missing, it must be a number",
    ]);
  });

  test("does not guess between several forms", () => {
    expect(lines(z.union([z.string(), z.boolean()]), 1)).toEqual([": fits none of the forms that it may have"]);
  });

  test("keeps what a schema says in its own words", () => {
    const schema = z.union([z.string(), z.boolean()], { error: "must be a name or a switch" });
    expect(lines(schema, 1)).toEqual([": must be a name or a switch"]);
  });

  test("takes keys with the names of object members for what they are: unknown", () => {
    const data = JSON.parse('{"constructor": 1, "toString": 2}');
    expect(lines(z.strictObject({ name: z.string().optional() }), data)).toEqual([
      "constructor: unknown key, known here: name",
      "toString: unknown key, known here: name",
    ]);
  });
});

describe("a path", () => {
  test.each<[(string | number)[], string]>([
    [[], ""],
    [["profiles", 0, "plugins", 1, "weight"], "profiles[0].plugins[1].weight"],
    [["prices", 2, "match", "topology.kubernetes.io/zone"], 'prices[2].match["topology.kubernetes.io/zone"]'],
    [["zones", "eu-1", "carbon"], "zones.eu-1.carbon"],
    [["zones", ""], 'zones[""]'],
  ])("is written as people write it: %j", (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});
