import { beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { documentOf, fakeFunction, serving } from "./function-fixture.ts";
import { follow } from "./source-fixture.ts";

let first: JsonObject;

beforeAll(async () => {
  first = await documentOf([{ name: "Random" }, { name: "NodeCost" }]);
});

describe("plugins of another release", () => {
  const changed = (document: JsonObject, at: number, change: JsonObject): JsonObject => ({
    ...document,
    version: "changed",
    plugins: (document["plugins"] as JsonObject[]).map((plugin, index) =>
      index === at ? { ...plugin, ...change } : plugin,
    ),
  });

  it("are asked about at the function when they can be, in their places", async () => {
    const there = await fakeFunction(serving(changed(first, 1, { version: 99 })));
    const { source } = await follow(there.url);
    const relayed = source.current("default");
    expect(relayed?.away).toEqual(["NodeCost"]);
    expect(relayed?.policy.plugins.map(({ spec }) => `${spec.name} ${spec.version}`)).toEqual([
      "Random 1",
      "NodeCost 99",
    ]);
  });

  it("make the policy refused when they have to be decided in the cluster, and the last one stays", async () => {
    const gpu = await documentOf([{ name: "GpuMemory" }]);
    const there = await fakeFunction(serving(gpu));
    const { version, problem } = await follow(there.url);
    expect(version()).toBe(gpu["version"]);
    there.behave(serving(changed(gpu, 0, { version: 99 })));
    await expect
      .poll(problem)
      .toMatch(/plugin GpuMemory, version 99, has to be decided in the cluster, and this program has version \d+/);
    there.behave(serving(changed(gpu, 0, { name: "Gangs" })));
    await expect
      .poll(problem)
      .toContain("plugin Gangs, version 1, has to be decided in the cluster, and this program does not have it");
    expect(version()).toBe(gpu["version"]);
  });

  it("make the policy refused with arguments or views that are not known here", async () => {
    const there = await fakeFunction(serving(changed(first, 1, { args: { unpriced: "perhaps" } })));
    const { version, problem } = await follow(there.url);
    expect(problem()).toContain(
      "plugin NodeCost has arguments that it does not take: args.unpriced must be one of last, reject",
    );
    const reads = {
      pod: [],
      node: [{ name: "moonPhase", of: "node", pace: "slow", paths: ["status.moon"] }],
      around: [],
    };
    there.behave(serving(changed(first, 1, { name: "Own", reads })));
    await expect.poll(problem).toContain("plugin Own reads moonPhase, which this release cannot read");
    expect(version()).toBeUndefined();
  });

  it("make the policy refused when this program says that it could not decide by it", async () => {
    const there = await fakeFunction(serving(first));
    const { version, problem } = await follow(there.url, { unfit: () => "nobody here can tell the weather" });
    expect([version(), problem()]).toEqual([undefined, "profile default: nobody here can tell the weather"]);
  });
});
