import { describe, expect, it } from "vitest";
import type { FleetFacts } from "../facts.ts";
import { scaleScores } from "../rank.ts";
import { commitments, prices } from "../views/fleet.ts";
import { nodeCost } from "./node-cost.ts";

const TYPE = "node.kubernetes.io/instance-type";
const ZONE = "topology.kubernetes.io/zone";
const CAPACITY = "karpenter.sh/capacity-type";

const facts: FleetFacts = {
  apiVersion: "berth.dev/v1alpha1",
  kind: "FleetFacts",
  prices: [
    { match: { [TYPE]: "m5.large" }, perHour: 0.1 },
    { match: { [TYPE]: "m5.large", [CAPACITY]: "spot" }, perHour: 0.03 },
    { match: { [TYPE]: "m5.large", [ZONE]: "us-1b" }, perHour: 0.12 },
    { match: { "example.com/pool": "bare-metal" }, perHour: 4 },
  ],
  commitments: [{ name: "reserved", match: { [TYPE]: "r5.large" } }],
};

const around = { prices: prices.fact.parse(facts.prices), commitments: commitments.fact.parse(facts.commitments) };
const node = (labels: Record<string, string>, cpu = 2000n, memory = 8_000_000_000n) => ({
  labels,
  allocatable: { cpu, memory },
});

function judge(requests: Record<string, bigint> = { cpu: 500n, memory: 1_000_000_000n }, args: unknown = {}) {
  return nodeCost.prepare(nodeCost.args.parse(args), { requests }, around);
}

describe("NodeCost", () => {
  it("costs the node's hourly price times the larger share of cpu and memory that the pod takes", () => {
    expect(judge().score?.(node({ [TYPE]: "m5.large" }))).toBeCloseTo(0.1 * 0.25, 12);
    const memoryHeavy = judge({ cpu: 500n, memory: 4_000_000_000n });
    expect(memoryHeavy.score?.(node({ [TYPE]: "m5.large" }))).toBeCloseTo(0.1 * 0.5, 12);
  });

  it("takes the price with the most matching labels: instance type, zone, capacity type or any label", () => {
    const price = (labels: Record<string, string>) => (judge().score?.(node(labels)) ?? Number.NaN) / 0.25;
    expect(price({ [TYPE]: "m5.large", [CAPACITY]: "spot" })).toBeCloseTo(0.03, 12);
    expect(price({ [TYPE]: "m5.large", [ZONE]: "us-1b" })).toBeCloseTo(0.12, 12);
    expect(price({ "example.com/pool": "bare-metal" })).toBeCloseTo(4, 12);
  });

  it("costs nothing on nodes under a commitment, whatever their price or size", () => {
    expect(judge().score?.(node({ [TYPE]: "r5.large" }))).toBe(0);
    expect(judge().score?.(node({ [TYPE]: "r5.large" }, 0n, 0n))).toBe(0);
  });

  it("makes the cheapest node best, a committed one before all, an unpriced one last", () => {
    const nodes = [
      node({ [TYPE]: "m5.large" }),
      node({ [TYPE]: "m5.large", [CAPACITY]: "spot" }),
      node({ [TYPE]: "r5.large" }),
      node({ [TYPE]: "unknown" }),
    ];
    const scores = scaleScores(
      nodeCost.scale ?? "none",
      nodes.map((each) => judge().score?.(each)),
    );
    expect(scores.map(Math.round)).toEqual([0, 70, 100, 0]);
  });

  it("keeps unpriced nodes unless the arguments say to reject them, for good", () => {
    expect(judge().filter?.(node({}))).toBeUndefined();
    const strict = judge(undefined, { unpriced: "reject" });
    expect(strict.filter?.(node({}))).toEqual({
      reason: "node(s) had no price in the facts of the fleet",
      unresolvable: true,
    });
    expect(strict.filter?.(node({ [TYPE]: "m5.large" }))).toBeUndefined();
    expect(strict.filter?.(node({ [TYPE]: "r5.large" }))).toBeUndefined();
  });

  it("says nothing about a node without capacity instead of dividing by zero", () => {
    expect(judge().score?.(node({ [TYPE]: "m5.large" }, 0n))).toBeUndefined();
    expect(judge().score?.({ labels: { [TYPE]: "m5.large" }, allocatable: {} })).toBeUndefined();
  });

  it("reads only the labels that a price or commitment names, so that equal nodes stay equal", () => {
    const labels = nodeCost.reads(nodeCost.args.parse({}), facts).node?.labels;
    const read = labels?.read?.(
      { metadata: { labels: { [TYPE]: "m5.large", "kubernetes.io/hostname": "node-1" } } },
      0,
    );
    expect(Object.keys(read ?? {})).toEqual([TYPE]);
  });
});
