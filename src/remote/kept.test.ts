import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { afterTest, documentOf, fakeFunction, saying, serving } from "./function-fixture.ts";
import { follow } from "./source-fixture.ts";

let first: JsonObject;
let second: JsonObject;

beforeAll(async () => {
  first = await documentOf([{ name: "Random" }, { name: "NodeCost" }], { prices: [{ match: {}, perHour: 1 }] });
  second = await documentOf([{ name: "Random", weight: 3 }], { prices: [{ match: {}, perHour: 2 }] });
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "berth-kept-"));
  afterTest(() => rm(made, { recursive: true, force: true }));
  return made;
}

describe("the policy that is kept on disk", () => {
  it("is in force at start while the function is away, and is followed on when it is back", async () => {
    const keptIn = join(await folder(), "policies");
    const there = await fakeFunction(serving(first));
    const before = await follow(there.url, { keptIn });
    await before.source.stop();
    await there.stop();

    const { source, version, versions, problem } = await follow(there.url, { keptIn });
    expect([version(), problem()]).toEqual([first["version"], expect.stringContaining("nothing listens there")]);
    expect(source.states()[0]?.ageSeconds).toBeGreaterThanOrEqual(0);
    expect(await readdir(keptIn)).toEqual(["default.json"]);

    await fakeFunction(serving(second), { port: Number(new URL(there.url).port) });
    await expect.poll(version).toBe(second["version"]);
    expect(versions).toEqual([second["version"]]);
    await expect
      .poll(async () => JSON.parse(await readFile(join(keptIn, "default.json"), "utf8")).version)
      .toBe(second["version"]);
  });

  it("is as old as the function's last word on it, not as the policy itself", async () => {
    const keptIn = await folder();
    const file = join(keptIn, "default.json");
    const there = await fakeFunction(serving(first));
    await writeFile(file, JSON.stringify(first));
    const [hours, days] = [2 * 3_600, 3 * 86_400].map((seconds) => Date.now() / 1_000 - seconds) as [number, number];
    await utimes(file, days, days);
    await (await follow(there.url, { keptIn })).source.stop();
    expect(Date.now() - (await stat(file)).mtimeMs).toBeLessThan(3_600_000);

    await there.stop();
    await utimes(file, hours, hours);
    const { source } = await follow(there.url, { keptIn });
    expect(source.states()[0]?.ageSeconds).toBeGreaterThanOrEqual(7_200);
  });

  it.each([
    ["no JSON", "{"],
    ["of another protocol", JSON.stringify({ protocol: 7, release: "9.0.0" })],
    ["empty", ""],
  ])("is not used when it is %s, and is written anew", async (_, text) => {
    const keptIn = await folder();
    await writeFile(join(keptIn, "default.json"), text);
    const there = await fakeFunction(saying(500));
    const { version, lines } = await follow(there.url, { keptIn });
    expect(version()).toBeUndefined();
    expect(lines.join("\n")).toContain("the kept policy is not used");
    there.behave(serving(first));
    await expect.poll(version).toBe(first["version"]);
    await expect.poll(() => readFile(join(keptIn, "default.json"), "utf8")).toBe(JSON.stringify(first));
  });

  it("does no harm when its directory cannot be written", async () => {
    const file = join(await folder(), "a-file");
    await writeFile(file, "");
    const there = await fakeFunction(serving(first));
    const { version, lines } = await follow(there.url, { keptIn: file });
    expect(version()).toBe(first["version"]);
    const said = lines.join("\n");
    expect(said).toContain(`the policy cannot be kept in ${file}: it is a file; choose another folder`);
    expect(said).toContain(
      `the policy kept in ${join(file, "default.json")} cannot be read: its path leads through a file`,
    );
    expect(said).toContain("BERTH_POLICY_CACHE has to name a folder");
    expect(said).not.toMatch(/\bE[A-Z]{4,}\b/);
  });
});
