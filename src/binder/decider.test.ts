import { describe, expect, it } from "vitest";
import { gpuClaim, podObject } from "../placement/gpu-fixture.ts";
import { registry } from "../policy/registry.ts";
import type { Row } from "../policy/run.ts";
import type { JsonObject } from "../protocol/json.ts";
import { readProfile } from "../remote/document.ts";
import { documentOf } from "../remote/function-fixture.ts";
import { relayedPolicy } from "../remote/relayed.ts";
import { gpushareLive, type Watched, watch } from "./binder-fixture.ts";
import { liveDecider } from "./decider.ts";
import { live as policiesOn } from "./policy-fixture.ts";

const asked = (pod: Parameters<typeof podObject>[0], ...names: string[]) => ({
  form: "names" as const,
  pod: podObject(pod),
  nodes: names.map((name) => ({ name, object: { metadata: { name } } })),
  duplicates: [],
});

async function filter(watched: Watched, args: ReturnType<typeof asked>): Promise<readonly (string | undefined)[]> {
  const decision = await liveDecider(await gpushareLive(watched.state), () => undefined).decide("filter", args);
  if ("error" in decision) throw new Error(decision.error);
  return decision.rows.map((row: Row) => ("refusal" in row ? row.refusal.reason : undefined));
}

describe("filter by node names", () => {
  it("sees pods that are bound, promises in ledgers and pods that are nominated, as they are now", async () => {
    const watched = watch();
    for (const name of ["bound", "promised", "nominated", "free"]) watched.node(name, [1, 10]);
    watched.pod({ uid: "a", gpu: 6, node: "bound", device: 0 });
    watched.ledger("promised", [gpuClaim("b", 0, 6)]);
    watched.pod({ uid: "c", gpu: 6, nominated: "nominated" });
    const reasons = await filter(watched, asked({ uid: "new", gpu: 5 }, "bound", "promised", "nominated", "free"));
    const full = "node(s) had no GPU with 5 aliyun.com/gpu-mem free";
    expect(reasons).toEqual([full, full, full, undefined]);
  });

  it("does not count against a pod what it holds itself", async () => {
    const watched = watch();
    watched.node("one", [1, 10]);
    watched.ledger("one", [gpuClaim("mine", 0, 6)]);
    expect(await filter(watched, asked({ uid: "mine", gpu: 6 }, "one"))).toEqual([undefined]);
  });

  it("keeps a node that becomes known while it waits, and refuses one that does not", async () => {
    const watched = watch();
    const deciding = filter(watched, asked({ uid: "new", gpu: 5 }, "soon", "never"));
    setTimeout(() => watched.node("soon", [1, 10]), 20);
    expect(await deciding).toEqual([undefined, "node(s) were not known to the binder yet"]);
  });

  it("refuses a node whose ledger is closed, but not to pods that ask for no device", async () => {
    const watched = watch();
    watched.node("closed", [1, 10]);
    watched.ledger("closed", [], 2_000);
    const refused = await filter(watched, asked({ uid: "new", gpu: 5 }, "closed"));
    expect(refused).toEqual(["node(s) had a device ledger that was made anew a moment ago"]);
    expect(await filter(watched, asked({ uid: "plain" }, "closed"))).toEqual([undefined]);
  });

  it("refuses a node whose ledger a newer release has written, so that pods go elsewhere, but not to other pods", async () => {
    const watched = watch();
    for (const name of ["upgraded", "other"]) watched.node(name, [1, 10]);
    watched.newerLedger("upgraded");
    const reasons = await filter(watched, asked({ uid: "new", gpu: 5 }, "upgraded", "other"));
    expect(reasons).toEqual(["node(s) had a device ledger that a newer release of the binder has written", undefined]);
    expect(await filter(watched, asked({ uid: "plain" }, "upgraded"))).toEqual([undefined]);
    watched.ledger("upgraded", []);
    expect(await filter(watched, asked({ uid: "new", gpu: 5 }, "upgraded"))).toEqual([undefined]);
  });

  it("tells nodes apart that are alike but for their devices, also while one of them is held", async () => {
    const watched = watch();
    for (const name of ["a", "b", "sick", "held"]) watched.node(name, [1, 10]);
    watched.node("large", [1, 20]);
    watched.unhealthy("sick", "0");
    watched.pod({ uid: "x", gpu: 6, node: "held", device: 0 });
    const small = "node(s) had no healthy GPU as large as the 12 aliyun.com/gpu-mem that the pod asks for";
    const names = ["a", "large", "b", "sick", "held"] as const;
    expect(await filter(watched, asked({ uid: "new", gpu: 12 }, ...names))).toEqual([
      small,
      undefined,
      small,
      small,
      small,
    ]);
    const reasons = await filter(watched, asked({ uid: "new", gpu: 5 }, ...names));
    expect(reasons.map((reason) => reason === undefined)).toEqual([true, true, true, false, false]);
  });

  it("follows unhealthy devices, and warns of an entry that names none", async () => {
    const watched = watch();
    watched.node("sick", [1, 10]);
    watched.unhealthy("sick", "0,abc");
    expect(await filter(watched, asked({ uid: "new", gpu: 5 }, "sick"))).toEqual([
      "node(s) had no healthy GPU as large as the 5 aliyun.com/gpu-mem that the pod asks for",
    ]);
    expect(watched.warnings.join()).toContain('"abc" is not a device id');
    watched.healthy("sick");
    expect(await filter(watched, asked({ uid: "new", gpu: 5 }, "sick"))).toEqual([undefined]);
  });

  it("answers with a sentence and no decision as long as not everything has been read", async () => {
    const decider = liveDecider(await gpushareLive(watch().state), () => "not yet");
    expect(await decider.decide("filter", asked({ uid: "new" }, "any"))).toEqual({ error: "not yet" });
  });
});

describe("prioritize by node names", () => {
  it("prefers the node whose devices would be fullest", async () => {
    const watched = watch();
    watched.node("empty", [1, 10]);
    watched.node("half", [1, 10]);
    watched.pod({ uid: "a", gpu: 5, node: "half", device: 0 });
    const decider = liveDecider(await gpushareLive(watched.state), () => undefined);
    const decision = await decider.decide("prioritize", asked({ uid: "new", gpu: 5 }, "empty", "half"));
    expect(decision).toMatchObject({ rows: [{ scores: [50] }, { scores: [100] }] });
  });
});

describe("questions in facts at the binder", () => {
  it("are not answered for plugins that only the function has: they would seem to have nothing to say", async () => {
    const watched = watch();
    const document = await documentOf([{ name: "Random" }, { name: "NodeCost" }]);
    const plugins = (document["plugins"] as JsonObject[]).map((plugin) =>
      plugin["name"] === "NodeCost" ? { ...plugin, version: 99 } : plugin,
    );
    const read = readProfile(Buffer.from(JSON.stringify({ ...document, plugins })), "default");
    if ("problem" in read) throw new Error(read.problem);
    const relayed = relayedPolicy(read.value, registry);
    if ("problem" in relayed) throw new Error(relayed.problem);
    const live = policiesOn(new Map([["default", relayed]]), watched.state).get("default");
    if (!live) throw new Error("the profile is missing");
    const { evaluate } = liveDecider(live, () => undefined);
    const question = { protocol: 1, pod: { podUid: "a" }, nodes: [] };
    await expect(evaluate(question)).rejects.toThrow("only the function has NodeCost: ask it instead");
    await expect(evaluate({ ...question, plugins: ["Random"] })).resolves.toMatchObject({ rows: [] });
  });
});
