import { describe, expect, it } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { fakeTiming, refuse, reply } from "./api-fixture.ts";
import { expired, fakeCluster, follow } from "./cluster-fixture.ts";

describe("an informer on a server with watch lists", () => {
  it("knows everything with one request, and what changes afterwards", async () => {
    const cluster = await fakeCluster();
    cluster.put("one", { nodeName: "n1", secret: "x" });
    cluster.put("two");
    const { informer, heard, names } = await follow(cluster);
    expect(informer.state()).toMatchObject({ resource: "pods", synced: false, connected: false });
    await informer.whenSynced;
    cluster.put("one", { nodeName: "n2" });
    cluster.put("three");
    cluster.remove("two");
    await expect.poll(() => heard).toEqual(["add one", "add two", "update one", "add three", "delete two"]);
    expect(names()).toEqual(["one", "three"]);
    expect(cluster.asked()).toEqual(["watch list"]);
    expect(informer.state()).toMatchObject({ synced: true, connected: true, objects: 2 });
    expect(informer.state()).not.toHaveProperty("problem");
    const { query, path } = cluster.arrived[0] ?? expect.fail("nothing arrived");
    expect(path).toBe("/api/v1/pods");
    expect(query.get("resourceVersionMatch")).toBe("NotOlderThan");
    expect(query.get("allowWatchBookmarks")).toBe("true");
  });

  it("keeps the wanted fields and nothing else", async () => {
    const cluster = await fakeCluster();
    const version = cluster.put("one", { nodeName: "n1", secret: "x" });
    const { informer } = await follow(cluster);
    await informer.whenSynced;
    expect(informer.get("one", "a")).toEqual({
      metadata: { name: "one", namespace: "a", uid: "uid-one", resourceVersion: version },
      spec: { nodeName: "n1" },
    });
    expect(informer.get("one")).toBeUndefined();
  });

  it("tells a late listener of everything that is there already", async () => {
    const cluster = await fakeCluster();
    cluster.put("one");
    const { informer } = await follow(cluster);
    await informer.whenSynced;
    const late: JsonObject[] = [];
    const leave = informer.subscribe({ add: (object) => void late.push(object) });
    expect(late).toEqual([informer.get("one", "a")]);
    leave();
    cluster.put("two");
    await expect.poll(() => informer.size).toBe(2);
    expect(late).toHaveLength(1);
  });

  it("asks with its selectors, in its namespace", async () => {
    const cluster = await fakeCluster();
    const { informer } = await follow(cluster, {
      namespace: "a",
      labelSelector: "x=y",
      fieldSelector: "spec.nodeName=n",
    });
    await informer.whenSynced;
    const { query, path } = cluster.arrived[0] ?? expect.fail("nothing arrived");
    expect([path, query.get("labelSelector"), query.get("fieldSelector")]).toEqual([
      "/api/v1/namespaces/a/pods",
      "x=y",
      "spec.nodeName=n",
    ]);
  });

  it("drops what is of no interest, also when it becomes so", async () => {
    const cluster = await fakeCluster();
    const keep = (object: JsonObject) => (object["spec"] as JsonObject)["wanted"] !== false;
    cluster.put("never", { wanted: false });
    cluster.put("once", { wanted: true });
    const { informer, heard } = await follow(cluster, { keep });
    await informer.whenSynced;
    cluster.put("once", { wanted: false });
    await expect.poll(() => heard).toEqual(["add once", "delete once"]);
    expect(informer.size).toBe(0);
  });
});

describe("an informer of many objects", () => {
  it("lists in pages as it is told, also after its version was lost", async () => {
    const cluster = await fakeCluster();
    for (let i = 0; i < 1100; i++) cluster.put(`pod-${i}`);
    const { informer } = await follow(cluster, { listing: "pages" });
    await informer.whenSynced;
    expect(informer.size).toBe(1100);
    cluster.silently(() => cluster.remove("pod-1020"));
    cluster.send(expired);
    await expect.poll(() => informer.size).toBe(1099);
    const once = ["list", "list", "list", "watch"];
    await expect.poll(() => cluster.asked()).toEqual([...once, ...once]);
  });

  it("asks for a watch list when a list fails", async () => {
    const cluster = await fakeCluster();
    cluster.put("one");
    cluster.fault = ({ query }, answer) => {
      if (query.has("watch")) return false;
      reply(answer, 500, {});
      return true;
    };
    const { informer } = await follow(cluster, { listing: "pages" });
    await informer.whenSynced;
    expect(cluster.asked()).toEqual(["list", "watch list"]);
  });
});

describe("an informer on a server without watch lists", () => {
  it("lists in pages, then watches from there, and asks for watch lists never again", async () => {
    const cluster = await fakeCluster();
    for (let i = 0; i < 1100; i++) cluster.put(`pod-${i}`);
    cluster.fault = ({ query }, answer) => {
      if (!query.has("sendInitialEvents")) return false;
      refuse(answer, 422, "Invalid", "sendInitialEvents is forbidden");
      return true;
    };
    const { informer } = await follow(cluster);
    await informer.whenSynced;
    expect(informer.size).toBe(1100);
    cluster.silently(() => cluster.remove("pod-7"));
    cluster.send(expired);
    await expect.poll(() => informer.size).toBe(1099);
    await expect
      .poll(() => cluster.asked())
      .toEqual(["watch list", "list", "list", "list", "watch", "list", "list", "list", "watch"]);
  });

  it("lists without pages when a page expired under way", async () => {
    const cluster = await fakeCluster();
    for (let i = 0; i < 600; i++) cluster.put(`pod-${i}`);
    cluster.fault = ({ query }, answer) => {
      if (!query.has("sendInitialEvents") && !query.has("continue")) return false;
      refuse(answer, query.has("continue") ? 410 : 400, "Expired");
      return true;
    };
    const { informer } = await follow(cluster);
    await informer.whenSynced;
    expect(informer.size).toBe(600);
    expect(cluster.arrived.map(({ query }) => query.get("limit"))).toEqual([null, "500", "500", null]);
  });
});

describe("one bad apple", () => {
  it("among the objects is counted, told once a minute, and spoils none of the others", async () => {
    const cluster = await fakeCluster();
    const timing = fakeTiming();
    const { informer, heard, warnings } = await follow(cluster, { timing });
    await informer.whenSynced;
    for (const metadata of [undefined, null, [], { name: 7 }, { name: "" }]) {
      cluster.send(JSON.stringify({ type: "ADDED", object: { metadata } }));
    }
    cluster.put("good");
    await expect.poll(() => heard).toEqual(["add good"]);
    expect(informer.state()).toMatchObject({ badObjects: 5, connected: true });
    expect(warnings).toEqual([expect.stringContaining("An object of pods cannot be read")]);
  });

  it("in a list spoils none of the others", async () => {
    const cluster = await fakeCluster();
    cluster.fault = ({ query }, answer) => {
      if (query.get("watch") === "true") refuse(answer, 400, "BadRequest");
      else
        reply(answer, 200, { metadata: { resourceVersion: "5" }, items: [null, 7, {}, { metadata: { name: "ok" } }] });
      return true;
    };
    const { informer, names } = await follow(cluster);
    await informer.whenSynced;
    expect(names()).toEqual(["ok"]);
    expect(informer.state().badObjects).toBe(3);
  });

  it("that can no longer be read stays as it was known, also through a list", async () => {
    const cluster = await fakeCluster();
    cluster.put("one", { nodeName: "n1" });
    const trim = (object: JsonObject): JsonObject => {
      if ((object["spec"] as JsonObject)["nodeName"] === "bad") throw new Error("what is this");
      return object;
    };
    const { informer } = await follow(cluster, { trim });
    await informer.whenSynced;
    cluster.silently(() => void cluster.put("one", { nodeName: "bad" }));
    cluster.send(expired);
    await expect.poll(() => informer.state().badObjects).toBe(1);
    await expect.poll(() => informer.state().connected).toBe(true);
    expect(informer.get("one", "a")).toMatchObject({ spec: { nodeName: "n1" } });
  });

  it("among the handlers, throwing or rejecting, keeps none of the others from hearing", async () => {
    const cluster = await fakeCluster();
    const { informer, warnings } = await follow(cluster);
    await informer.whenSynced;
    informer.subscribe({
      add: () => {
        throw new Error("boom");
      },
      update: async () => {
        throw new Error("later boom");
      },
    });
    const heard: string[] = [];
    informer.subscribe({ add: () => void heard.push("add"), update: () => void heard.push("update") });
    cluster.put("one");
    cluster.put("one");
    await expect.poll(() => heard).toEqual(["add", "update"]);
    await expect.poll(() => informer.state().handlerErrors).toBe(2);
    expect(warnings).toEqual([expect.stringContaining("boom")]);
  });
});
