import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registry } from "../policy/registry.ts";
import { loadPlugins } from "./plugins.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-plugins-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function written(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const ONE = "{ name: 'Mine', version: 1, args: {}, prepare: () => ({}) }";

describe("Plugins of one's own", () => {
  test("without a file there are Berth's", async () => {
    expect(await loadPlugins(undefined)).toBe(registry);
  });

  test("a file gives the list that it exports", async () => {
    const plugins = await loadPlugins(await written("good.mjs", `export const plugins = [${ONE}];`));
    expect(plugins.map(({ name }) => name)).toEqual(["Mine"]);
  });

  test.each([
    ["none.mjs", "export default [];", "must export a list named plugins, each made with definePlugin"],
    ["empty.mjs", "export const plugins = [];", "must export a list named plugins, each made with definePlugin"],
    ["other.mjs", "export const plugins = [{ name: 'Mine' }];", "must export a list named plugins"],
    ["twice.mjs", `export const plugins = [${ONE}, ${ONE}];`, "has two plugins named Mine"],
    ["broken.mjs", "throw new Error('no price list');", "cannot be loaded: no price list"],
  ])("%s is refused with a sentence that names it", async (name, text, problem) => {
    const file = await written(name, text);
    await expect(loadPlugins(file)).rejects.toThrow(`${file} ${problem}`);
  });

  test("a file that is not there is refused by its name", async () => {
    await expect(loadPlugins(join(folder, "away.ts"))).rejects.toThrow(/away\.ts cannot be loaded/);
  });
});
