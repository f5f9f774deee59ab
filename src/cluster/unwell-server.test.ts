import { describe, expect, it } from "vitest";
import { fakeTiming, refuse, reply } from "./api-fixture.ts";
import { fakeCluster, follow } from "./cluster-fixture.ts";

describe("an informer on a server that is not well", () => {
  it("waits longer and longer, up to ten seconds, while every watch is answered 410", async () => {
    const cluster = await fakeCluster();
    const timing = fakeTiming();
    cluster.put("one");
    cluster.fault = ({ query }, answer) => {
      if (query.get("watch") !== "true") return false;
      refuse(answer, 410, "Expired");
      return true;
    };
    const { informer, warnings } = await follow(cluster, { timing });
    const waits: number[] = [];
    for (let i = 1; i <= 9; i++) {
      await expect.poll(() => warnings).toHaveLength(i);
      const wait = Number(/"wait":(\d+)/.exec(warnings.at(-1) ?? "")?.[1]);
      waits.push(wait);
      timing.pass(wait - 1);
      expect(informer.state().restarts.expired).toBe(i);
      timing.pass(1);
    }
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
    expect(informer.size).toBe(1);
    cluster.silently(() => void cluster.put("two"));
    for (let i = 10; i <= 11; i++) {
      await expect.poll(() => warnings).toHaveLength(i);
      timing.pass(10_000);
    }
    await expect.poll(() => informer.size).toBe(2);
  });

  it.each([
    ["no JSON", "<html>"],
    ["no event", '{"kind":"Pod"}'],
    ["an unknown type", '{"type":"SURPRISE","object":{}}'],
    ["a bookmark without a version", '{"type":"BOOKMARK","object":{}}'],
  ])("lists again when the watch holds %s, so that nothing is missed", async (_, line) => {
    const cluster = await fakeCluster();
    const { informer, heard } = await follow(cluster);
    await informer.whenSynced;
    cluster.silently(() => void cluster.put("missed"));
    cluster.send(line);
    await expect.poll(() => heard).toEqual(["add missed"]);
    expect(informer.state().restarts).toMatchObject({ garbage: 1 });
  });

  it("follows by lists alone when watches give nothing but garbage", async () => {
    const cluster = await fakeCluster();
    cluster.put("one");
    cluster.fault = ({ query }, answer) => {
      if (query.get("watch") === "true") answer.writeHead(200).end("garbage\n");
      return query.get("watch") === "true";
    };
    const { informer } = await follow(cluster);
    await informer.whenSynced;
    cluster.put("two");
    await expect.poll(() => informer.size, { timeout: 5000 }).toBe(2);
  });

  it("starts when the server comes up late, after a list that was no list", async () => {
    const cluster = await fakeCluster();
    cluster.put("one");
    const answers = [{ kind: "Status" }, [], "x", { items: 7, metadata: { resourceVersion: "1" } }];
    cluster.fault = (_, answer) => {
      const next = answers.shift();
      if (next !== undefined) reply(answer, 200, next);
      return next !== undefined;
    };
    const { informer, names } = await follow(cluster);
    await informer.whenSynced;
    expect(names()).toEqual(["one"]);
  });

  it("says which rights are missing, and starts once they are there", async () => {
    const cluster = await fakeCluster();
    cluster.fault = (_, answer) => Boolean(refuse(answer, 403, "Forbidden", 'cannot list "pods"') ?? true);
    const { informer, warnings } = await follow(cluster);
    await expect.poll(() => informer.state().problem).toContain('cannot list "pods"');
    expect(warnings[0]).toContain("Following pods was interrupted");
    cluster.fault = undefined;
    await informer.whenSynced;
    await expect.poll(() => informer.state().problem).toBeUndefined();
  });

  it("ends its watch and stops asking when it is stopped, whatever it is doing", async () => {
    const cluster = await fakeCluster();
    const watching = await follow(cluster);
    await watching.informer.whenSynced;
    await watching.informer.stop();
    await expect.poll(() => cluster.watches).toBe(0);
    cluster.fault = (_, answer) => Boolean(refuse(answer, 500, "InternalError") ?? true);
    const waiting = await follow(cluster, { timing: fakeTiming() });
    await expect.poll(() => waiting.informer.state().restarts.broken).toBe(1);
    await waiting.informer.stop();
    expect(cluster.asked()).toEqual(["watch list", "watch list"]);
  });
});
