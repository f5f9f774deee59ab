import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { checkConfiguration } from "../policy/configuration.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import { type Watched, watch } from "./binder-fixture.ts";
import { decideLive } from "./decider.ts";
import { noFacts } from "./gpushare.ts";
import type { LivePolicy } from "./live.ts";
import { livePolicies } from "./policies.ts";
import { createShadow } from "./shadow.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Both profiles place GPU pods; one packs them, the other spreads them and refuses nodes without GPUs it knows of. */
async function scene(watched: Watched) {
  const checked = checkConfiguration(registry)({
    apiVersion: "berth.dev/v1alpha1",
    kind: "PolicyConfiguration",
    profiles: [
      { name: "default", plugins: [{ name: "GpuMemory" }] },
      { name: "spread", plugins: [{ name: "GpuMemory", args: { score: "spread" } }] },
      { name: "strict", plugins: [{ name: "NodeLabel", args: { require: { pool: [] } } }, { name: "GpuMemory" }] },
      { name: "same", plugins: [{ name: "GpuMemory" }] },
    ],
  });
  if ("faults" in checked) throw new Error("the configuration has faults");
  const facts = noFacts();
  const { policies } = await loadPolicies(checked.value, facts, registry);
  const own = new Map([...policies].map(([name, policy]) => [name, { policy, facts }]));
  const live = livePolicies(own, { state: watched.state, now: () => 1_000 });
  const counts: string[] = [];
  const shadowed = (shadow: string) =>
    createShadow({
      of: () => live.get(shadow),
      metrics: {
        decided: (profile, outcome) => void counts.push(`${profile} ${outcome}`),
        differs: (_, kind, plugin) => void counts.push(`${kind} ${plugin}`),
      },
      log: () => undefined,
      elapsed: () => performance.now(),
    });
  return { counts, shadowed, own: live.get("default") as LivePolicy };
}

const NODES = ["full", "empty"].map((name) => ({ name, object: {} }));

function cluster(): { watched: Watched; args: { pod: ReturnType<Watched["pod"]>; nodes: typeof NODES } } {
  const watched = watch();
  watched.node("full", [1, 16]);
  watched.node("empty", [1, 64]);
  return { watched, args: { pod: watched.pod({ uid: "asks", gpu: 8 }), nodes: NODES } };
}

describe("A policy in the shadow of another", () => {
  test("that would choose another node is found out, with what both saw, after the answer is given", async () => {
    const { watched, args } = cluster();
    const { own, shadowed, counts } = await scene(watched);
    const shadow = shadowed("spread");
    shadow.saw(own, "prioritize", args, await decideLive(own, "prioritize", args));
    expect(shadow.differences()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(counts).toEqual(["default differs", "order GpuMemory"]);
    expect(shadow.differences()).toMatchObject([
      {
        pod: "default/pod-asks",
        verb: "prioritize",
        policy: expect.stringMatching(/^default@/),
        shadow: expect.stringMatching(/^spread@/),
        kind: "order",
        plugins: ["GpuMemory"],
        nodes: 2,
        shown: [
          { node: "full", policy: [{ plugin: "GpuMemory", score: 50 }], shadow: [{ plugin: "GpuMemory", score: 50 }] },
          { node: "empty", policy: [{ score: 12.5 }], shadow: [{ score: 87.5 }] },
        ],
      },
    ]);
  });

  test("that would refuse a node is found out by the plugin that refuses it", async () => {
    const { watched, args } = cluster();
    const { own, shadowed, counts } = await scene(watched);
    const shadow = shadowed("strict");
    shadow.saw(own, "filter", args, await decideLive(own, "filter", args));
    await vi.advanceTimersByTimeAsync(1);
    expect(counts).toEqual(["default differs", "verdict NodeLabel"]);
    const [difference] = shadow.differences();
    expect(difference?.shown[0]?.shadow).toMatchObject([
      { plugin: "NodeLabel", refusal: { reason: "node(s) didn't have a label that the policy requires" } },
      { plugin: "GpuMemory" },
    ]);
  });

  test("that decides alike is counted and nothing else", async () => {
    const { watched, args } = cluster();
    const { own, shadowed, counts } = await scene(watched);
    const shadow = shadowed("same");
    for (const verb of ["filter", "prioritize"] as const)
      shadow.saw(own, verb, args, await decideLive(own, verb, args));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([counts, shadow.differences()]).toEqual([["default same", "default same"], []]);
  });

  test("skips what it has no time for and keeps the last hundred differences, the newest first", async () => {
    const { watched, args } = cluster();
    const { own, shadowed, counts } = await scene(watched);
    const shadow = shadowed("spread");
    const decision = await decideLive(own, "prioritize", args);
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 120; index++) shadow.saw(own, "prioritize", args, decision);
      await vi.advanceTimersByTimeAsync(600_000);
    }
    expect(counts.filter((each) => each === "default skipped")).toHaveLength(40);
    expect(counts.filter((each) => each === "default differs")).toHaveLength(200);
    expect(shadow.differences()).toHaveLength(100);
    await shadow.stop();
  });
});
