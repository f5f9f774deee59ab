import { afterEach, describe, expect, it } from "vitest";
import { createAuthority } from "../../test/controlplane/authority.ts";
import type { JsonObject } from "../protocol/json.ts";
import { type ExtenderCall, type ExtenderReply, type SmallExtender, startSmallExtender } from "./extender-fixture.ts";
import { createExtended } from "./extenders.ts";
import { policySchema } from "./policy-schema.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const nodes = ["a", "b", "c"].map((name): JsonObject => ({ metadata: { name, labels: { x: name } } }));
const [a, b, c] = nodes as [JsonObject, JsonObject, JsonObject];
const pod: JsonObject = { metadata: { name: "p", namespace: "ns", uid: "u" }, spec: { containers: [] } };

async function serve(
  reply: (call: ExtenderCall) => ExtenderReply | Promise<ExtenderReply>,
  tls?: { readonly certPem: string; readonly keyPem: string },
): Promise<SmallExtender> {
  const extender = await startSmallExtender(reply, tls);
  closers.push(extender.stop);
  return extender;
}

async function extended(...entries: JsonObject[]) {
  const extenders = policySchema.parse({ kind: "Policy", apiVersion: "v1", extenders: entries }).extenders ?? [];
  const warnings: string[] = [];
  const made = await createExtended(extenders, (_, { problem }) => warnings.push(String(problem)));
  closers.push(made.close);
  return { ...made, warnings };
}

describe("filtering by extenders", () => {
  it("sends whole nodes to urlPrefix/verb, and takes back the nodes that it is answered with", async () => {
    const extender = await serve(() => ({ Nodes: { items: [c, a] }, FailedNodes: { b: "no ssd" }, Error: "" }));
    const { filter } = await extended({ urlPrefix: `${extender.url}/api/scheduler/`, filterVerb: "filter" });
    expect(await filter(pod, nodes)).toEqual({
      kept: [c, a],
      refused: new Map([["b", { plugin: "Extender", reason: "no ssd", unresolvable: false }]]),
    });
    const [call] = extender.calls;
    expect(call?.path).toBe("/api/scheduler/filter");
    expect(call?.headers["content-type"]).toBe("application/json");
    expect(call?.body).toEqual({ Pod: pod, Nodes: { metadata: {}, items: nodes }, NodeNames: null });
  });

  it("sends and takes names where the extender has a cache of its own, keys in any casing", async () => {
    const extender = await serve(() => ({ nodenames: ["b"], failedAndUnresolvableNodes: { a: "gone" } }));
    const { filter } = await extended({ urlPrefix: extender.url, filterVerb: "f", nodeCacheCapable: true });
    const verdict = await filter(pod, nodes);
    expect(verdict).toMatchObject({ kept: [b] });
    expect("refused" in verdict && Object.fromEntries(verdict.refused)).toEqual({
      a: { plugin: "Extender", reason: "gone", unresolvable: true },
      c: { plugin: "Extender", reason: "node(s) were not kept by an extender", unresolvable: false },
    });
    expect(extender.calls[0]?.body).toEqual({ Pod: pod, Nodes: null, NodeNames: ["a", "b", "c"] });
  });

  it("asks one after another, each about what the one before has kept, and nobody about no nodes", async () => {
    const first = await serve(() => ({ NodeNames: ["c"] }));
    const second = await serve(() => ({ NodeNames: [] }));
    const third = await serve(() => ({ NodeNames: [] }));
    const entries = [first, second, third].map(({ url }) => ({
      urlPrefix: url,
      filterVerb: "f",
      nodeCacheCapable: true,
    }));
    const { filter } = await extended(...entries);
    expect(await filter(pod, nodes)).toMatchObject({ kept: [] });
    expect(second.calls[0]?.body["NodeNames"]).toEqual(["c"]);
    expect(third.calls).toHaveLength(0);
  });

  it("keeps no node where the answer has none", async () => {
    const extender = await serve(() => ({}));
    const { filter } = await extended({ urlPrefix: extender.url, filterVerb: "f" });
    expect(await filter(pod, nodes)).toMatchObject({ kept: [] });
  });

  it("asks only about pods that ask for a resource that it manages", async () => {
    const extender = await serve(() => ({ NodeNames: [] }));
    const managedResources = [{ name: "example.com/gpu" }];
    const { filter } = await extended({
      urlPrefix: extender.url,
      filterVerb: "f",
      nodeCacheCapable: true,
      managedResources,
    });
    expect(await filter(pod, nodes)).toMatchObject({ kept: nodes });
    const container = { resources: { limits: { "example.com/gpu": "1" } } };
    for (const spec of [{ containers: [container] }, { initContainers: [container] }]) {
      expect(await filter({ ...pod, spec }, nodes)).toMatchObject({ kept: [] });
    }
    expect(extender.calls).toHaveLength(2);
  });
});

describe("an extender that does not do its part", () => {
  const failures: [string, () => ExtenderReply, RegExp][] = [
    [
      "answers with another status",
      () => ({ status: 500 }),
      /^extender at http:\/\/127\.0\.0\.1:\d+ failed to f: it answered with status 500$/,
    ],
    ["answers with no JSON", () => "ok", /the body is not valid JSON/],
    ["says that it failed", () => ({ Error: "out of memory" }), /failed to f: out of memory$/],
    [
      "keeps a node that it was not asked about",
      () => ({ Nodes: { items: [{ metadata: { name: "z" } }] } }),
      /keeps node "z"/,
    ],
    ["does not answer in time", () => undefined, /failed to f: no answer in 200 ms$/],
  ];

  it.each(failures)("fails the pod, in a sentence without the URL's secrets, when it %s", async (_, reply, message) => {
    const extender = await serve(reply);
    const entry = { urlPrefix: `${extender.url}/secret`, filterVerb: "f", httpTimeout: 200_000_000 };
    const verdict = await (await extended(entry)).filter(pod, nodes);
    expect(verdict).toEqual({ error: expect.stringMatching(message) });
    expect(JSON.stringify(verdict)).not.toContain("secret");
    const ignorable = await extended({ ...entry, ignorable: true });
    expect(await ignorable.filter(pod, nodes)).toMatchObject({ kept: nodes });
    expect(ignorable.warnings).toEqual([expect.stringMatching(message)]);
  });

  it("is not there: the pod fails", async () => {
    const extender = await startSmallExtender(() => ({}));
    await extender.stop();
    const { filter } = await extended({ urlPrefix: extender.url, filterVerb: "f" });
    expect(await filter(pod, nodes)).toEqual({ error: expect.stringContaining("ECONNREFUSED") });
  });
});

describe("scores of extenders", () => {
  it("count ten times their weight, summed over all of them", async () => {
    const one = await serve(
      () =>
        [
          { Host: "a", Score: 10 },
          { host: "b", score: 1 },
        ] as never,
    );
    const two = await serve(() => [{ Host: "a", Score: 2 }] as never);
    const { score } = await extended(
      { urlPrefix: one.url, prioritizeVerb: "p", weight: 5 },
      { urlPrefix: two.url, prioritizeVerb: "p", weight: 1, nodeCacheCapable: true },
    );
    expect(await score(pod, nodes)).toEqual(
      new Map([
        ["a", 520],
        ["b", 50],
      ]),
    );
    expect(one.calls[0]?.path).toBe("/p");
  });

  it("are left out when one of them is no whole number, which does not fail the pod", async () => {
    const extender = await serve(() => [{ Host: "a", Score: 7.5 }] as never);
    const { score, warnings } = await extended({ urlPrefix: extender.url, prioritizeVerb: "p", weight: 1 });
    expect(await score(pod, nodes)).toEqual(new Map());
    expect(warnings).toHaveLength(1);
  });
});

describe("binding by extenders", () => {
  it("is left to the scheduler where none binds", async () => {
    expect(await (await extended({ urlPrefix: "http://127.0.0.1:1", filterVerb: "f" })).bind(pod, "a")).toBe("none");
  });

  it("names pod, UID and node", async () => {
    const extender = await serve(() => ({}));
    const { bind } = await extended({ urlPrefix: extender.url, bindVerb: "bind" });
    expect(await bind(pod, "a")).toBe("bound");
    expect(extender.calls[0]?.body).toEqual({ PodName: "p", PodNamespace: "ns", PodUID: "u", Node: "a" });
  });

  it("tells why it was refused; one that may be ignored leaves it to the scheduler then", async () => {
    const extender = await serve(() => ({ Error: "taken" }));
    const entry = { urlPrefix: extender.url, bindVerb: "bind" };
    expect(await (await extended(entry)).bind(pod, "a")).toEqual({ error: expect.stringContaining("taken") });
    expect(await (await extended({ ...entry, ignorable: true })).bind(pod, "a")).toBe("none");
  });
});

describe("the way to an extender", () => {
  it("turns user and secret of the URL into Basic credentials", async () => {
    const extender = await serve(() => ({ NodeNames: [] }));
    const urlPrefix = extender.url.replace("://", "://user:p%40ss@");
    await (await extended({ urlPrefix, filterVerb: "f", nodeCacheCapable: true })).filter(pod, nodes);
    expect(extender.calls[0]?.headers.authorization).toBe(`Basic ${btoa("user:p@ss")}`);
    expect(extender.calls[0]?.path).toBe("/f");
  });

  it("checks the certificate by the CA of tlsConfig, and not at all with enableHTTPS and no CA", async () => {
    const [authority, stranger] = await Promise.all([createAuthority(), createAuthority()]);
    const extender = await serve(() => ({ NodeNames: ["a"] }), await authority.issue({ name: "extender" }));
    const entry = { urlPrefix: extender.url, filterVerb: "f", nodeCacheCapable: true };
    const filterWith = async (more: JsonObject) => (await extended({ ...entry, ...more })).filter(pod, nodes);
    const ca = (caPem: string) => ({ tlsConfig: { caData: btoa(caPem) } });
    expect(await filterWith(ca(authority.caPem))).toMatchObject({ kept: [a] });
    expect(await filterWith({ enableHTTPS: true })).toMatchObject({ kept: [a] });
    expect(await filterWith(ca(stranger.caPem))).toMatchObject({ error: expect.stringContaining("certificate") });
    expect(await filterWith({})).toHaveProperty("error");
  });

  it("says which file is missing", async () => {
    const entry = { urlPrefix: "https://127.0.0.1:1/secret", filterVerb: "f", tlsConfig: { caFile: "/no/such.pem" } };
    await expect(extended(entry)).rejects.toThrow(
      "The extender at https://127.0.0.1:1 needs the file /no/such.pem, which cannot be read: ENOENT",
    );
  });
});
