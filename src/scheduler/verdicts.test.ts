import { describe, expect, it } from "vitest";
import * as z from "zod";
import { definePlugin } from "../policy/plugin.ts";
import type { Policy } from "../policy/policy.ts";
import type { View } from "../policy/view.ts";
import { nodeName } from "../policy/views/identity.ts";
import { nodeUsage } from "../policy/views/node-usage.ts";
import { podRequests } from "../policy/views/pod-requests.ts";
import { createCluster, type KnownNode } from "./cluster.ts";
import { testNode, testPod } from "./scheduler-fixture.ts";
import { createVerdicts } from "./verdicts.ts";

const common = { version: 1, doc: "", maturity: "beta", args: z.strictObject({}), scale: "none" } as const;

/** Two plugins that count how often they are asked: one reads the node alone, one what its pods take of it. */
function setUp(order: readonly ("still" | "moving")[] = ["still", "moving"]) {
  const asked = { still: 0, moving: 0 };
  const refusing = new Set<string>();
  const filter = (name: "still" | "moving") => () =>
    refusing.has(name) ? { reason: name, unresolvable: false } : undefined;
  const score = (name: "still" | "moving", value: number) => () => {
    asked[name] += 1;
    return value;
  };
  const still = definePlugin({
    ...{ ...common, name: "still", reads: () => ({ node: { name: nodeName } }) },
    prepare: () => ({ filter: filter("still"), score: score("still", 1) }),
  });
  const moving = definePlugin({
    ...{ ...common, name: "moving", reads: () => ({ pod: { requests: podRequests }, node: { usage: nodeUsage } }) },
    prepare: () => ({ filter: filter("moving"), score: ({ usage }) => score("moving", usage.pods)() }),
  });
  const views = {
    still: { pod: {}, node: { name: nodeName }, around: {} },
    moving: { pod: { requests: podRequests }, node: { usage: nodeUsage }, around: {} },
  };
  const specs = { still, moving };
  const plugins = order.map((name) => ({ spec: specs[name], weight: 1, args: {}, views: views[name] }));
  const policy: Policy = { profile: "test", version: "1", plugins };
  const cluster = createCluster(() => undefined);
  cluster.putNode(testNode("one"));
  const verdicts = createVerdicts(policy, { around: (view: View<unknown>) => view as never });
  const row = (cpu: string, { name = "a", now = 0 } = {}) => {
    const of = verdicts(testPod(name, { cpu }).object, now);
    if ("unreadable" in of) throw new Error("the pod cannot be read");
    return of.row(cluster.get("one") as KnownNode);
  };
  return { asked, refusing, cluster, row };
}

describe("verdicts that are kept", () => {
  it("are the same for all pods of a kind, whatever their names", () => {
    const { asked, row } = setUp();
    for (const name of ["a", "b", "c"]) expect(row("1", { name })).toEqual({ scores: [1, 0] });
    expect(asked).toEqual({ still: 1, moving: 1 });
  });

  it("are shared by kinds of pods as far as these do not differ for a plugin", () => {
    const { asked, row } = setUp();
    for (const cpu of ["1", "2", "3"]) row(cpu);
    expect(asked).toEqual({ still: 1, moving: 3 });
  });

  it("last, for what reads the node alone, beyond a bind, and end with a change of the node", () => {
    const { asked, cluster, row } = setUp();
    row("1");
    cluster.assume(testPod("b"), "one");
    expect(row("1")).toEqual({ scores: [1, 1] });
    expect(asked).toEqual({ still: 1, moving: 2 });
    cluster.putNode(testNode("one"));
    row("1");
    expect(asked).toEqual({ still: 2, moving: 3 });
  });

  it("last for ten seconds at most, for a fact may depend on the time", () => {
    const { asked, row } = setUp();
    row("1", { now: 1_000 });
    row("1", { now: 10_999 });
    expect(asked).toEqual({ still: 1, moving: 1 });
    row("1", { now: 11_000 });
    expect(asked).toEqual({ still: 2, moving: 2 });
  });

  it.each([
    [["still", "moving"], "still", [1, 0]],
    [["moving", "still"], "moving", [0, 1]],
  ] as const)("name the first refusal and the scores in the order of the profile (%s)", (order, first, scores) => {
    const { refusing, cluster, row } = setUp(order);
    expect(row("1")).toEqual({ scores });
    for (const name of order) refusing.add(name);
    cluster.putNode(testNode("one"));
    expect(row("1")).toMatchObject({ refusal: { plugin: first } });
  });
});
