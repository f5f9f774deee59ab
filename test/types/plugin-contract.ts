/**
 * What the compiler keeps for plugin authors. Nothing here runs: every line marked with `@ts-expect-error` has to be
 * an error, and the type check fails on the day it is none.
 */
import * as z from "zod";
import { definePlugin } from "../../src/policy/plugin.ts";
import type { View } from "../../src/policy/view.ts";

declare const cpu: View<bigint>;
declare const zone: View<string>;

const common = { version: 1, doc: "", maturity: "alpha", args: z.strictObject({ limit: z.int() }) } as const;

definePlugin({
  ...common,
  name: "OnlyDeclaredFacts",
  scale: "none",
  reads: () => ({ pod: { cpu }, node: { zone } }),
  prepare: (args, pod) => ({
    filter: (node) => {
      // @ts-expect-error a fact of the node that was not declared
      node.cpu;
      // @ts-expect-error a fact of the pod that was not declared
      pod.zone;
      // @ts-expect-error an argument that the schema does not have
      args.limits;
      // @ts-expect-error facts cannot be changed
      node.zone = "b";
      return node.zone === "a" && pod.cpu > BigInt(args.limit)
        ? { reason: "node(s) were in zone a", unresolvable: true }
        : undefined;
    },
    score: (node) => node.zone.length,
  }),
});

definePlugin({
  ...common,
  name: "RefusalsHaveReasons",
  reads: () => ({ node: { zone } }),
  prepare: () => ({
    // @ts-expect-error a refusal is a value with a reason, not a boolean
    filter: () => false,
  }),
});

definePlugin({
  ...common,
  name: "ScoresAreNumbers",
  scale: "none",
  reads: () => ({ node: { zone } }),
  prepare: () => ({
    // @ts-expect-error a score is a number
    score: (node) => node.zone,
  }),
});

definePlugin({
  ...common,
  name: "ScalesAreKnown",
  // @ts-expect-error a scale that no ranker knows
  scale: "percent",
  reads: () => ({}),
  prepare: () => ({ score: () => 1 }),
});

definePlugin({
  ...common,
  name: "NothingAround",
  reads: () => ({ node: { zone } }),
  prepare: (_args, _pod, around) => ({
    filter: () => {
      // @ts-expect-error a fact of the fleet that was not declared
      around.prices;
      return undefined;
    },
  }),
});

// @ts-expect-error a view without a schema for its fact
export const unchecked: View<string> = { name: "x", of: "node", pace: "slow", doc: "", paths: [] };
