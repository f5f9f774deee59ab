import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Check, checkSchema } from "./faults.ts";
import { formatFault, readDocument } from "./source.ts";

const plugin = z.strictObject({ name: z.string(), weight: z.int().min(1).default(1) });
const profile = z.strictObject({ name: z.string(), plugins: z.array(plugin) });
const check = checkSchema(z.strictObject({ profiles: z.array(profile), seed: z.number().optional() }));

function faults(text: string, by: Check<unknown> = check): string[] {
  const read = readDocument(text, "berth.yaml", by);
  return "faults" in read ? read.faults.map(formatFault) : [];
}

describe("a document", () => {
  test("that is good gives its checked value", () => {
    const text = "profiles:\n  - name: a\n    plugins: [{name: Random}]\n";
    expect(readDocument(text, "berth.yaml", check)).toEqual({
      value: { profiles: [{ name: "a", plugins: [{ name: "Random", weight: 1 }] }] },
    });
  });

  test("may be JSON, indented with tabs or spaces, with Windows line ends or a byte order mark", () => {
    const value = { profiles: [{ name: "a", plugins: [] }] };
    for (const text of [
      JSON.stringify(value),
      JSON.stringify(value, undefined, "\t"),
      JSON.stringify(value, undefined, 2).replaceAll("\n", "\r\n"),
      `\uFEFF${JSON.stringify(value)}`,
    ]) {
      expect(readDocument(text, "berth.yaml", check), text).toEqual({ value });
    }
  });

  test("may use anchors", () => {
    const text = "profiles:\n- &a {name: a, plugins: []}\n- *a\n";
    expect(readDocument(text, "berth.yaml", check)).toMatchObject({
      value: { profiles: [{ name: "a" }, { name: "a" }] },
    });
  });

  test("has all its faults told at once, with line, column and path, in the order of the file", () => {
    const text = [
      "profiles:",
      "  - name: a",
      "    plugins:",
      "      - name: NodeCost",
      "        wieght: 3",
      "      - name: Random",
      "        weight: 0",
      "  - plugins: none",
      "seed: 1",
      "seed: 2",
      "more: true",
    ].join("\n");
    expect(faults(text)).toEqual([
      "berth.yaml:5:9 profiles[0].plugins[0].wieght: unknown key, did you mean weight? known here: name, weight",
      "berth.yaml:7:17 profiles[0].plugins[1].weight: must be at least 1",
      "berth.yaml:8:5 profiles[1].name: is missing, it must be a text",
      'berth.yaml:8:14 profiles[1].plugins: must be a list, not "none"',
      "berth.yaml:10:1 the key seed stands here twice",
      "berth.yaml:11:1 more: unknown key, known here: profiles, seed",
    ]);
  });

  test("has the faults of a JSON file told with line and column too", () => {
    expect(faults('{\n  "profiles": [\n    {"name": 1, "name": 2, "plugins": []}\n  ]\n}')).toEqual([
      'berth.yaml:3:17 the key "name" stands here twice',
      "berth.yaml:3:25 profiles[0].name: must be a text, not 2",
    ]);
  });

  test("with very many keys in one map is read in time that grows with their number, not with its square", () => {
    const keys = Array.from({ length: 50_000 }, (_, index) => `"key-${index}": 1`);
    const text = `{${[...keys, '"key-0": 2'].join(",\n")}}`;
    expect(faults(text, (value) => ({ value }))).toEqual(['berth.yaml:50001:1 the key "key-0" stands here twice']);
  });

  test("with a value reached through an anchor is blamed where the value is used", () => {
    expect(faults("profiles:\n- {name: &n 5, plugins: []}\n- {name: *n, plugins: []}\n")).toEqual([
      "berth.yaml:2:13 profiles[0].name: must be a text, not 5",
      "berth.yaml:3:10 profiles[1].name: must be a text, not 5",
    ]);
  });

  test("that is no YAML is told where, and nothing is guessed from the rest", () => {
    expect(faults("profiles: [\nmore: 1\n")).toEqual([
      expect.stringMatching(/^berth\.yaml:\d:\d is not valid YAML: Flow sequence/),
    ]);
  });

  test.each([
    ["", "berth.yaml:1:1 is empty"],
    ["# nothing yet\n", "berth.yaml:1:1 is empty"],
    ["null\n", "berth.yaml:1:1 must be a map, not null"],
    ["- a\n", "berth.yaml:1:1 must be a map, not a list"],
    ["profiles: []\n---\nprofiles: []\n", "berth.yaml:2:1 holds several documents, there must be one"],
    ["profiles: *nowhere\n", "berth.yaml:1:11 cannot be read: Unresolved alias"],
    ["profiles: []\n? [1]\n: 2\n", "berth.yaml:2:3 is not valid YAML: With stringKeys, all keys must be strings"],
  ])("that holds nothing to check says so: %j", (text, message) => {
    expect(faults(text)).toEqual([expect.stringContaining(message)]);
  });

  test("that grows without bound through its anchors is refused", () => {
    const levels = ["a", "b", "c", "d", "e", "f"];
    const text = levels.map((name, index) => {
      const of = levels[index - 1];
      return `${name}: &${name} [${Array.from({ length: 10 }, () => (of ? `*${of}` : "1")).join(", ")}]`;
    });
    expect(faults(text.join("\n"))).toEqual([expect.stringContaining("Excessive alias count")]);
  });

  test("finds the line of a fault that a check of its own names by path", () => {
    const unknownPlugin: Check<unknown> = () => ({
      faults: [
        { path: ["profiles", 0, "plugins", 1, "name"], message: "is not a plugin" },
        { path: ["profiles", 0, "plugins", 1, "args", "deep", 3], message: "is nowhere" },
        { path: ["profiles", 0, "plugins"], message: "is a bad key", at: "key" },
      ],
    });
    expect(faults("profiles:\n- plugins:\n  - name: a\n  - name: b\n    args: {deep: 1}\n", unknownPlugin)).toEqual([
      "berth.yaml:2:3 profiles[0].plugins: is a bad key",
      "berth.yaml:4:11 profiles[0].plugins[1].name: is not a plugin",
      "berth.yaml:5:18 profiles[0].plugins[1].args.deep[3]: is nowhere",
    ]);
  });

  test("with keys named after object members leaves the program's own objects alone", () => {
    readDocument("__proto__: {polluted: true}\n", "berth.yaml", check);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
