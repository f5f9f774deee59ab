import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { checkConfiguration } from "../../src/policy/configuration.ts";
import { checkFacts } from "../../src/policy/facts.ts";
import { registry } from "../../src/policy/registry.ts";

const DOCS = new URL("../../docs/", import.meta.url);

/** Every fenced block of the documentation that is a whole document of ours. */
async function documents(kind: string): Promise<[page: string, document: unknown][]> {
  const pages = (await readdir(DOCS)).filter((name) => name.endsWith(".md"));
  const found = await Promise.all(
    pages.map(async (page) => {
      const text = await readFile(new URL(page, DOCS), "utf8");
      const blocks = [...text.matchAll(/```(?:yaml|json)\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
      return blocks
        .filter((block) => new RegExp(`kind"?: "?${kind}`).test(block))
        .map((block): [string, unknown] => [page, parse(block)]);
    }),
  );
  return found.flat();
}

describe("the documentation's examples", () => {
  it("of berth.yaml are configurations that Berth takes", async () => {
    const examples = await documents("PolicyConfiguration");
    expect(examples.length).toBeGreaterThan(0);
    for (const [page, example] of examples) expect(checkConfiguration(registry)(example), page).toHaveProperty("value");
  });

  it("of facts.json are facts that Berth takes", async () => {
    const examples = await documents("FleetFacts");
    expect(examples.length).toBeGreaterThan(0);
    for (const [page, example] of examples) expect(checkFacts(example), page).toHaveProperty("value");
  });
});
