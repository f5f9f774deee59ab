import { beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { type Behaviour, documentOf, fakeFunction, saying, serving } from "./function-fixture.ts";
import type { RelayedPolicy } from "./relayed.ts";
import { askedAgain, follow } from "./source-fixture.ts";

let first: JsonObject;
let second: JsonObject;

beforeAll(async () => {
  first = await documentOf([{ name: "Random" }, { name: "NodeCost" }], { prices: [{ match: {}, perHour: 1 }] });
  second = await documentOf([{ name: "Random", weight: 3 }], { prices: [{ match: {}, perHour: 2 }] });
});

const without = (document: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([each]) => each !== key));

describe("the policy of a function", () => {
  it("is there with its facts once the first pull is over, and is asked for by its tag from then on", async () => {
    const there = await fakeFunction(serving(first));
    const { source, version } = await follow(there.url);
    expect(version()).toBe(first["version"]);
    expect(source.current("default")?.facts).toMatchObject({ prices: [{ match: {}, perHour: 1 }] });
    expect(source.current("default")?.policy.plugins.map(({ spec, weight }) => `${spec.name} ${weight}`)).toEqual([
      "Random 1",
      "NodeCost 1",
    ]);
    await askedAgain(there);
    expect(there.asked.at(-1)?.headers["if-none-match"]).toBe(`"default@${first["version"]}"`);
    expect(there.connections()).toBe(1);
    expect(source.states()).toEqual([{ profile: "default", version: version(), ageSeconds: 0, failures: 0 }]);
  });

  it("changes as a whole when another is deployed, and whoever listens hears of both", async () => {
    const there = await fakeFunction(serving(first));
    const { source } = await follow(there.url);
    const heard: [RelayedPolicy, RelayedPolicy | undefined][] = [];
    source.subscribe((_, now, before) => void heard.push([now, before]));
    there.behave(serving(second));
    await expect.poll(() => heard.length).toBe(1);
    const [[now, before] = []] = heard;
    expect([now?.policy.version, before?.policy.version]).toEqual([second["version"], first["version"]]);
    expect([now?.facts.prices?.[0]?.perHour, now?.policy.plugins[0]?.weight]).toEqual([2, 3]);
  });

  const broken: readonly (readonly [string, () => Behaviour, string])[] = [
    ["answers 500", () => saying(500, "oops"), "the function answered 500"],
    ["answers something that is not JSON", () => saying(200, "<html>"), "is not JSON: is it a function of Berth?"],
    ["sends half a document", () => saying(200, JSON.stringify(second).slice(0, -40)), "is not JSON"],
    ["lacks a part", () => serving(without(second, "plugins")), "the function's profile is broken: plugins is missing"],
    ["has facts that make no sense", () => serving({ ...second, facts: { prices: 5 } }), "facts.prices must be a list"],
    [
      "speaks an older protocol",
      () => serving({ ...second, protocol: 0 }),
      "older than this one's 1: deploy a function of release",
    ],
    [
      "speaks a newer protocol",
      () => serving({ ...second, protocol: 2, release: "9.0.0" }),
      "(release 9.0.0) speaks protocol 2, newer than this one's 1: update this program",
    ],
    ["is no function of Berth", () => saying(200, "{}"), "names no protocol"],
    [
      "has another profile",
      () => serving({ ...second, profile: "other" }),
      "answered with profile other instead of default",
    ],
    ["refuses the token", () => saying(401), "does not accept the token"],
    ["does not know the profile", () => saying(404), "has no profile default for this token"],
    ["redirects", () => saying(302), "the function answered 302"],
    ["breaks the connection", () => (request) => void request.socket.destroy(), "cannot be reached"],
    ["sends more than anybody needs", () => saying(200, `"${"x".repeat(9_000_000)}"`), "larger than 8388608 bytes"],
  ];

  it.each(broken)("stays as it was while the function %s, and the reason is told once", async (_, behaviour, words) => {
    const there = await fakeFunction(serving(first));
    const { source, lines, version, versions, problem } = await follow(there.url);
    there.behave(behaviour());
    await expect.poll(problem).toContain(words);
    await askedAgain(there, 2);
    expect([version(), versions]).toEqual([first["version"], []]);
    expect(lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    expect(source.states()[0]?.failures).toBeGreaterThan(0);
    there.behave(serving(second));
    await expect.poll(version).toBe(second["version"]);
    expect(problem()).toBeUndefined();
  });

  it("is followed again after the function has hung", async () => {
    const there = await fakeFunction(serving(first));
    const { version } = await follow(there.url);
    there.behave(() => undefined);
    await askedAgain(there, 1);
    there.behave(serving(second));
    await expect.poll(version, { timeout: 20_000 }).toBe(second["version"]);
  });

  it("is asked for with the token that is valid now", async () => {
    let token = "the-old-token";
    const needed =
      (secret: string): Behaviour =>
      (request, response) =>
        request.headers.authorization === `Bearer ${secret}`
          ? serving(first)(request, response)
          : saying(401)(request, response);
    const there = await fakeFunction(needed("the-old-token"));
    const { problem } = await follow(there.url, { token: () => token });
    expect(problem()).toBeUndefined();
    there.behave(needed("the-new-token"));
    await expect.poll(problem).toContain("does not accept the token");
    token = "the-new-token";
    await expect.poll(problem).toBeUndefined();
  });

  it("does not change to and fro while two versions answer by turns, and follows the one that stays", async () => {
    let turn = 0;
    const there = await fakeFunction((request, response) =>
      serving(turn++ % 2 === 0 ? first : second)(request, response),
    );
    const { versions, version } = await follow(there.url);
    await askedAgain(there, 20);
    expect(versions).toEqual([second["version"]]);
    there.behave(serving(first));
    await expect.poll(version).toBe(first["version"]);
  });

  it("is pulled soon when somebody has reason to believe that it has changed", async () => {
    const there = await fakeFunction(serving(first));
    const { source, version } = await follow(there.url, { every: 300_000 });
    there.behave(serving(second));
    source.refresh();
    source.refresh();
    await expect.poll(version, { timeout: 10_000 }).toBe(second["version"]);
    expect(there.asked).toHaveLength(2);
  });
});
