import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PREDICATES, PRIORITIES } from "../../src/scheduler/legacy-names.ts";
import { readPolicyFile } from "../../src/scheduler/policy-file.ts";

const page = readFileSync(new URL("../../docs/policy-file.md", import.meta.url), "utf8");

/** The first two columns of the table whose first heading this is. */
function table(heading: string): [string, string][] {
  const rows =
    page
      .slice(page.indexOf(`| ${heading} |`))
      .split("\n\n", 1)[0]
      ?.split("\n")
      .slice(2) ?? [];
  return rows.map((row) => {
    const [, name = "", meaning = ""] = row.split("|").map((cell) => cell.trim());
    return [name.replaceAll("`", ""), meaning];
  });
}

it("has an example that is taken as it stands", async () => {
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  expect(await readPolicyFile(example, "policy.cfg")).toMatchObject({
    value: { extenders: [{ urlPrefix: "http://127.0.0.1:12345/api/scheduler", filterVerb: "filter" }] },
  });
});

it("lists every predicate and every priority with the plugins that it stands for", () => {
  expect(table("predicate")).toEqual(
    Object.entries(PREDICATES).map(([name, { plugins }]) => [name, plugins.join(", ")]),
  );
  const strategies = { LeastRequestedPriority: ", LeastAllocated", MostRequestedPriority: ", MostAllocated" };
  expect(table("priority")).toEqual(
    Object.entries(PRIORITIES).map(([name, { plugin }]) => [
      name,
      plugin + ((strategies as Record<string, string>)[name] ?? ""),
    ]),
  );
});
