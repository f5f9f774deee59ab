import { expect, it } from "vitest";
import type { Amounts } from "../views/amounts.ts";
import { nodeResourcesBalancedAllocation } from "./node-resources-balanced-allocation.ts";

const GPU = "example.com/gpu";

const scoreFor = (requests: Amounts, args: unknown = {}) =>
  nodeResourcesBalancedAllocation.prepare(nodeResourcesBalancedAllocation.args.parse(args), { requests }, {}).score;

const node = (room: Readonly<Record<string, number>>, requested: Readonly<Record<string, number>> = {}) => ({
  room,
  usage: { pods: 0, requested, nonZero: { cpu: 0, memory: 0 }, ports: {} },
});

it("scores 75 where the pod leaves a node as even as it was", () => {
  expect(scoreFor({ cpu: 100n, memory: 100n })?.(node({ cpu: 1000, memory: 1000 }))).toBe(75);
});

it("prefers a node that the pod makes more even over one that it makes less even", () => {
  const score = scoreFor({ cpu: 500n, memory: 0n });
  const even = node({ cpu: 1000, memory: 1000 });
  const bare = node({ cpu: 1000, memory: 1000 }, { memory: 500 });
  expect(score?.(bare)).toBe(87);
  expect(score?.(even)).toBe(62);
});

it("looks at any resources it is told to, but not at devices that the pod does not ask for", () => {
  const args = { resources: [{ name: "cpu" }, { name: "memory" }, { name: GPU }] };
  const full = node({ cpu: 1000, memory: 1000, [GPU]: 2 }, { [GPU]: 1 });
  expect(scoreFor({ cpu: 500n, memory: 500n, [GPU]: 0n }, args)?.(full)).toBe(75);
  expect(scoreFor({ cpu: 500n, memory: 500n, [GPU]: 1n }, args)?.(full)).toBe(75);
  expect(scoreFor({ cpu: 500n, memory: 500n }, args)?.(node({ cpu: 1000, memory: 0 }))).toBe(75);
});

it("has nothing to say of a pod that requests none of them, so such pods do not pile up on one node", () => {
  expect(scoreFor({})).toBeUndefined();
  expect(scoreFor({ [GPU]: 1n })).toBeUndefined();
});

it("refuses weights other than 1, and a resource that is named twice", () => {
  const { args } = nodeResourcesBalancedAllocation;
  expect(args.safeParse({ resources: [{ name: "cpu", weight: 2 }] }).success).toBe(false);
  expect(args.safeParse({ resources: [{ name: "cpu" }, { name: "cpu" }] }).success).toBe(false);
});
