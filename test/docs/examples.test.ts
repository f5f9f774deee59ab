import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readPolicyFiles } from "../../src/adapters/policy-files.ts";
import { localDeciders } from "../../src/extender/local.ts";
import { checkConfiguration } from "../../src/policy/configuration.ts";
import { checkFacts } from "../../src/policy/facts.ts";
import { loadPolicies } from "../../src/policy/profile.ts";
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

  it("of a question to evaluate is answered under the berth.yaml that comes with Berth", async () => {
    const page = await readFile(new URL("protocol.md", DOCS), "utf8");
    const question = /```json\n(\{\n {2}"protocol"[\s\S]*?)```/.exec(page)?.[1] ?? "";
    const root = fileURLToPath(new URL("../", DOCS));
    const files = { configFile: join(root, "berth.yaml"), factsFile: join(root, "facts.json") };
    const { configuration, facts } = await readPolicyFiles(files, registry);
    const decider = localDeciders(await loadPolicies(configuration, facts, registry), () => 0)("default");
    expect(await decider?.evaluate(JSON.parse(question))).toMatchObject({ rows: [{ scores: [100] }] });
  });
});
