import { describe, expect, it } from "vitest";
import { fakeTiming, refuse } from "./api-fixture.ts";
import { bookmark, expired, fakeCluster, follow } from "./cluster-fixture.ts";

describe("an informer whose watch is over", () => {
  it("goes on from where it was after the server ended it in good order, and lists nothing again", async () => {
    const cluster = await fakeCluster();
    const { informer, heard, warnings } = await follow(cluster);
    await informer.whenSynced;
    const version = cluster.put("one");
    await expect.poll(() => heard).toEqual(["add one"]);
    cluster.endWatches();
    await expect.poll(() => cluster.watches).toBe(1);
    cluster.put("two");
    await expect.poll(() => heard).toEqual(["add one", "add two"]);
    expect(cluster.asked()).toEqual(["watch list", "watch"]);
    expect(cluster.arrived[1]?.query.get("resourceVersion")).toBe(version);
    expect(informer.state().restarts).toMatchObject({ ended: 1 });
    expect(warnings).toEqual([]);
  });

  it("goes on from the last bookmark on a resource on which little happens", async () => {
    const cluster = await fakeCluster();
    const { informer } = await follow(cluster);
    await informer.whenSynced;
    cluster.send(bookmark(4711));
    await expect.poll(() => informer.state().heardAgo).toBeLessThan(1000);
    cluster.send(bookmark(4712));
    cluster.cut();
    await expect.poll(() => cluster.asked()).toEqual(["watch list", "watch"]);
    expect(["100", "4711", "4712"]).toContain(cluster.arrived[1]?.query.get("resourceVersion"));
  });

  it("shows new pods after the connection was reset (client-js #958)", async () => {
    const cluster = await fakeCluster();
    const { informer, heard } = await follow(cluster);
    await informer.whenSynced;
    cluster.cut();
    cluster.put("new");
    await expect.poll(() => heard).toEqual(["add new"]);
    expect(informer.state().restarts).toMatchObject({ broken: 1 });
  });

  it("opens a watch anew on which nothing has come for too long (client-js #958)", async () => {
    const cluster = await fakeCluster();
    const { informer, heard } = await follow(cluster, { staleAfter: 150 });
    await informer.whenSynced;
    cluster.silently(() => undefined);
    await expect.poll(() => informer.state().restarts.stale).toBeGreaterThan(0);
    await expect.poll(() => informer.state().connected).toBe(true);
    cluster.put("new");
    await expect.poll(() => heard).toEqual(["add new"]);
    expect(cluster.asked().filter((asked) => asked === "watch list")).toHaveLength(1);
  });

  it("keeps a watch on which an event comes now and then, for any length of time (client-js #3020)", async () => {
    const cluster = await fakeCluster();
    const timing = fakeTiming();
    const { informer, heard } = await follow(cluster, { timing, staleAfter: 30_000 });
    await informer.whenSynced;
    for (let i = 1; i <= 6; i++) {
      timing.pass(20_000);
      cluster.put(`pod-${i}`);
      await expect.poll(() => heard).toHaveLength(i);
    }
    expect(cluster.asked()).toEqual(["watch list"]);
    timing.pass(30_000);
    await expect.poll(() => informer.state().restarts.stale).toBe(1);
  });

  it("lists again after 410, and tells of what was deleted and replaced meanwhile", async () => {
    const cluster = await fakeCluster();
    for (const name of ["gone", "same", "replaced", "changed"]) cluster.put(name);
    const { informer, heard } = await follow(cluster);
    await informer.whenSynced;
    heard.splice(0);
    cluster.silently(() => {
      cluster.remove("gone");
      cluster.put("replaced", {}, "another-uid");
      cluster.put("changed", { nodeName: "n1" });
      cluster.put("new");
    });
    cluster.send(expired);
    const expected = ["delete replaced", "add replaced", "update changed", "add new", "delete gone"];
    await expect.poll(() => heard).toEqual(expected);
    expect(informer.state()).toMatchObject({ restarts: { expired: 1 }, synced: true });
  });

  it("keeps what it knows while the server is away, says so, and is well again afterwards", async () => {
    const cluster = await fakeCluster();
    cluster.put("one");
    const { informer, heard } = await follow(cluster);
    await informer.whenSynced;
    cluster.fault = (_, answer) => Boolean(refuse(answer, 503, "ServiceUnavailable") ?? true);
    cluster.cut();
    await expect.poll(() => informer.state().problem).toContain("503");
    expect(informer.state()).toMatchObject({ connected: false, synced: true, objects: 1 });
    cluster.fault = undefined;
    cluster.put("two");
    await expect.poll(() => heard, { timeout: 5000 }).toEqual(["add one", "add two"]);
    expect(informer.state().connected).toBe(true);
    expect(informer.state().problem).toBeUndefined();
  });

  it("doubts its version after several failures, as a restored etcd may not know it", async () => {
    const cluster = await fakeCluster();
    const timing = fakeTiming();
    const { informer } = await follow(cluster, { timing });
    await informer.whenSynced;
    cluster.fault = ({ query }, answer) => {
      if (query.get("resourceVersion") === null) return false;
      refuse(answer, 504, "Timeout", "Too large resource version");
      return true;
    };
    cluster.cut();
    for (let i = 1; i <= 4; i++) {
      await expect.poll(() => informer.state().restarts.broken).toBe(i);
      timing.pass(10_000);
    }
    await expect.poll(() => cluster.asked()).toEqual(["watch list", "watch", "watch", "watch", "watch list"]);
  });
});
