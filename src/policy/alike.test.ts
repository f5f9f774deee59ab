import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { JsonObject } from "../protocol/json.ts";
import { judgingAlike } from "./alike.ts";
import { fleetLookup, objectLookup } from "./lookup.ts";
import { definePlugin } from "./plugin.ts";
import type { Policy, PolicyPlugin } from "./policy.ts";
import { prepare } from "./run.ts";
import { nodeAllocatable } from "./views/allocatable.ts";
import { devices } from "./views/devices.ts";
import { nodeLabels } from "./views/labels.ts";

const FACTS = { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" } as const;
const common = { version: 1, doc: "For tests.", maturity: "alpha", args: z.strictObject({}) } as const;

function policyOf(judged: { count: number }): Policy {
  const slow = definePlugin({
    ...common,
    name: "Slow",
    scale: "none",
    reads: () => ({ node: { labels: nodeLabels(["pool"]), allocatable: nodeAllocatable } }),
    prepare: () => ({
      filter: ({ labels }) => {
        judged.count += 1;
        return labels["pool"] === "no" ? { reason: "node(s) were in no pool", unresolvable: true } : undefined;
      },
      score: ({ labels, allocatable }) => (labels["pool"] ?? "").length + Number(allocatable["cpu"] ?? 0n) / 1000,
    }),
  });
  const fast = definePlugin({
    ...common,
    name: "Fast",
    scale: "none",
    reads: () => ({ node: { known: devices } }),
    prepare: () => ({ score: ({ known }) => ("value" in known ? known.value.generation : undefined) }),
  });
  const compared = definePlugin({
    ...common,
    name: "Compared",
    scale: "max",
    reads: () => ({ node: { labels: nodeLabels(["pool"]) } }),
    prepare: () => ({ scoreAll: (nodes) => nodes.map(({ labels }) => (labels["pool"] ?? "").length + nodes.length) }),
  });
  const seat = (spec: PolicyPlugin["spec"]): PolicyPlugin => {
    const { node = {} } = spec.reads({}, FACTS);
    return { spec, weight: 1, args: {}, views: { pod: {}, node, around: {} } };
  };
  return { profile: "default", version: "0", plugins: [seat(slow), seat(fast), seat(compared)] };
}

function nodeOf({ pool, cpu, name }: { pool: string; cpu: string; name: string }): JsonObject {
  return { metadata: { name, labels: { pool, "kubernetes.io/hostname": name } }, status: { allocatable: { cpu } } };
}

function rowsOf(policy: Policy, nodes: readonly JsonObject[]) {
  const cycle = prepare(policy, objectLookup({}, 0), fleetLookup(FACTS));
  if ("unreadable" in cycle) throw new Error("the pod can be read");
  return {
    rows: cycle.rows(nodes.map((node) => objectLookup(node, 0))),
    filter: nodes.map((node) => cycle.filter(objectLookup(node, 0))),
  };
}

describe("Nodes that are alike", () => {
  test("are judged once for a pod, and as they would be one by one, unreadable ones too", () => {
    const node = fc.record({
      pool: fc.constantFrom("a", "bb", "no"),
      cpu: fc.constantFrom("1", "1000m", "4", "lots"),
      name: fc.string({ minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(node, { maxLength: 30 }), (sketches) => {
        const nodes = sketches.map(nodeOf);
        const [plain, alike] = [{ count: 0 }, { count: 0 }];
        expect(rowsOf(judgingAlike(policyOf(alike)), nodes)).toEqual(rowsOf(policyOf(plain), nodes));
        expect(alike.count).toBeLessThanOrEqual(9);
      }),
    );
  });

  test("are judged anew once the node is another object", () => {
    const policy = judgingAlike(policyOf({ count: 0 }));
    const before = rowsOf(policy, [nodeOf({ pool: "a", cpu: "1", name: "n" })]);
    const after = rowsOf(policy, [nodeOf({ pool: "no", cpu: "1", name: "n" })]);
    expect([before.filter[0], after.filter[0]?.plugin]).toEqual([undefined, "Slow"]);
  });

  test("stay apart for plugins that are picked", () => {
    const policy = policyOf({ count: 0 });
    expect(judgingAlike(policy, () => true).plugins).toEqual(policy.plugins);
  });
});
