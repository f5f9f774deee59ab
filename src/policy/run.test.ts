import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type AnyPlugin, definePlugin, type Rejection } from "./plugin.ts";
import { isNear, type Policy } from "./policy.ts";
import { type Cycle, PluginError, prepare, UNREADABLE_NODE } from "./run.ts";
import { type Lookup, Unreadable, type View } from "./view.ts";

const load: View<number> = { name: "load", of: "node", pace: "slow", doc: "load", paths: ["l"], fact: z.number() };
const live: View<number> = { ...load, name: "live", pace: "fast" };
const size: View<number> = { ...load, name: "size", of: "pod" };
const noArgs = z.strictObject({});
const FULL: Rejection = { reason: "node(s) were full", unresolvable: false };

const fits = definePlugin({
  name: "Fits",
  version: 1,
  doc: "",
  maturity: "alpha",
  args: noArgs,
  scale: "none",
  reads: () => ({ pod: { size }, node: { load } }),
  prepare: (_, pod) => ({
    filter: (node) => (node.load + pod.size > 100 ? FULL : undefined),
    score: (node) => 100 - node.load,
  }),
});

const compares = definePlugin({
  name: "Compares",
  version: 1,
  doc: "",
  maturity: "alpha",
  args: noArgs,
  scale: "list",
  reads: () => ({ node: { load } }),
  prepare: () => ({ scoreAll: (nodes) => nodes.map(() => nodes.length) }),
});

const breaks = definePlugin({
  name: "Breaks",
  version: 1,
  doc: "",
  maturity: "alpha",
  args: noArgs,
  reads: () => ({ node: { live } }),
  prepare: () => ({
    filter: () => {
      throw new Error("inventory missing");
    },
  }),
});

function policyOf(...specs: AnyPlugin[]): Policy {
  const plugins = specs.map((spec) => {
    const { pod = {}, node = {}, around = {} } = spec.reads({}, {} as never);
    return { spec, weight: 1, args: {}, views: { pod, node, around } };
  });
  return { profile: "test", version: "1", plugins };
}

function facts(values: Record<string, unknown>): Lookup {
  return <T>(view: View<T>) => values[view.name] as T | Unreadable;
}

function cycleOf(policy: Policy, pod: Lookup = facts({ size: 10 })): Cycle {
  const cycle = prepare(policy, pod, facts({}));
  if ("unreadable" in cycle) throw new Error(`pod not readable: ${cycle.unreadable}`);
  return cycle;
}

describe("a cycle", () => {
  it("keeps nodes that no plugin refuses and names the plugin and reason of the first refusal", () => {
    const cycle = cycleOf(policyOf(fits));
    expect(cycle.filter(facts({ load: 90 }))).toBeUndefined();
    expect(cycle.filter(facts({ load: 91 }))).toEqual({ plugin: "Fits", ...FULL });
  });

  it("gives each node a row: its refusal, or a raw score of every scoring plugin", () => {
    const rows = cycleOf(policyOf(fits, compares)).rows([
      facts({ load: 20 }),
      facts({ load: 95 }),
      facts({ load: 50 }),
    ]);
    expect(rows).toEqual([{ scores: [80, 2] }, { refusal: { plugin: "Fits", ...FULL } }, { scores: [50, 2] }]);
  });

  it("gives a row to each node that a lookup stands for, and plugins that compare nodes see every one of them", () => {
    const nodes = [facts({ load: 20 }), facts({ load: 95 })];
    const full = { refusal: { plugin: "Fits", ...FULL } };
    const compared = cycleOf(policyOf(fits, compares)).rows(nodes, [0, 1, 0]);
    expect(compared).toEqual([{ scores: [80, 2] }, full, { scores: [80, 2] }]);
    const alone = cycleOf(policyOf(fits)).rows(nodes, [1, 0, 0]);
    expect(alone).toEqual([full, { scores: [80] }, { scores: [80] }]);
  });

  it("shows plugins that compare nodes only those that nobody refused", () => {
    const rows = cycleOf(policyOf(fits, compares)).rows([facts({ load: 99 }), facts({ load: 1 })]);
    expect(rows[1]).toEqual({ scores: [99, 1] });
  });

  it("refuses a node whose field cannot be read with one constant reason, and keeps the field for the log", () => {
    const bad = new Unreadable("status.allocatable.cpu", "is no quantity");
    const refusal = cycleOf(policyOf(fits)).filter(facts({ load: bad }));
    expect(refusal).toEqual({ plugin: "Fits", reason: UNREADABLE_NODE, unresolvable: true, unreadable: bad });
    expect(cycleOf(policyOf(fits)).rows([facts({ load: bad }), facts({ load: 1 })])[1]).toEqual({ scores: [99] });
  });

  it("says which plugin and field made a pod impossible to judge", () => {
    const bad = new Unreadable("spec.containers[0].resources.requests.cpu", "is no quantity");
    expect(prepare(policyOf(fits), facts({ size: bad }), facts({}))).toEqual({ plugin: "Fits", unreadable: bad });
  });

  it("turns an exception of a plugin into an error with the plugin's name and the cause", () => {
    const cycle = cycleOf(policyOf(fits, breaks));
    expect(() => cycle.filter(facts({ load: 1, live: 1 }))).toThrow(
      new PluginError("Breaks", new Error("inventory missing")),
    );
  });

  it("explains what every plugin saw, refused and scored, also after the first refusal", () => {
    const [kept, refused] = cycleOf(policyOf(fits, compares)).explain([facts({ load: 20 }), facts({ load: 95 })]);
    expect(kept).toEqual([
      { plugin: "Fits", facts: { load: 20 }, score: 80 },
      { plugin: "Compares", facts: { load: 20 }, score: 1 },
    ]);
    expect(refused).toEqual([
      { plugin: "Fits", facts: { load: 95 }, refusal: FULL },
      { plugin: "Compares", facts: { load: 95 } },
    ]);
  });

  it("passes every node when the policy has no plugins", () => {
    expect(cycleOf(policyOf()).rows([facts({}), facts({})])).toEqual([{ scores: [] }, { scores: [] }]);
  });
});

describe("near and far plugins", () => {
  it("are told apart by what they read and whether they compare nodes, not by what they say", () => {
    const [far, list, fast] = policyOf(fits, compares, breaks).plugins;
    expect([far, list, fast].map((plugin) => plugin && isNear(plugin))).toEqual([false, true, true]);
  });
});
