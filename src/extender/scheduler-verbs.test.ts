import fc from "fast-check";
import { expect, test } from "vitest";
import { loadCompiled } from "../policy/compiled.ts";
import { registry } from "../policy/registry.ts";
import { ShapeError } from "../protocol/scan.ts";
import type { Decider, DecisionVerb } from "./decider.ts";
import { localDeciders } from "./local.ts";
import { answerCall } from "./scheduler-verbs.ts";

const apiVersion = "berth.dev/v1alpha1";
const plugins = [
  { name: "NodeLabel", args: { require: { pool: ["a", "b"] } } },
  { name: "NodeCost", args: { unpriced: "reject" } },
];
const policies = await loadCompiled(
  {
    configuration: { apiVersion, kind: "PolicyConfiguration", profiles: [{ name: "default", plugins }] },
    facts: { apiVersion, kind: "FleetFacts", prices: [{ match: { type: "small" }, perHour: 1 }] },
  },
  registry,
);

const decider = localDeciders(policies, () => 0)("default") as Decider;
/** Decides when all is there. */
const { filtering: _, ...atOnce } = decider;

async function ask(verb: DecisionVerb, body: string, { by = decider as Decider, pieces = [1e6] } = {}) {
  const bytes = new TextEncoder().encode(body);
  const pour = async (take: (chunk: Uint8Array) => boolean) => {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const piece = bytes.slice(at, at + (pieces[turn % pieces.length] ?? 1));
      at += piece.length;
      take(piece);
    }
  };
  const request = new Request("http://localhost/", { method: "POST", headers: { "Content-Length": "10" } });
  const answer = await answerCall({ request, body: { limit: 1e6, pour }, decider: by, verb });
  return answer && { ...answer, body: await new Response(answer.body).text() };
}

const nodeOf = ([name, pool, type, cpu]: readonly [string, string, string, string]) =>
  `{"metadata":{"name":"${name}","labels":{"pool":"${pool}","type":"${type}"}},"status":{"allocatable":{"cpu":"${cpu}","memory":"8Gi"}}}`;
const node = fc
  .tuple(
    fc.constantFrom("n1", "n2", "n3", "n4", "n5", "n6"),
    fc.constantFrom("a", "b", "c"),
    fc.constantFrom("small", "huge"),
    fc.constantFrom("4", "8", "x"),
  )
  .map(nodeOf);
const list = fc.array(node, { maxLength: 6 }).map((nodes) => `"Nodes":{"metadata":{},"items":[${nodes.join(",")}]}`);
const pod = fc.constantFrom("1", "500m", "x").map((cpu) => {
  return `"Pod":{"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"requests":{"cpu":"${cpu}"}}}]}}`;
});

test("A call is answered alike whether its nodes are judged as they arrive or when all is there, in any order", async () => {
  const verb = fc.constantFrom<DecisionVerb>("filter", "prioritize");
  const pieces = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 });
  const members = fc
    .tuple(
      pod,
      list,
      fc.array(fc.oneof(list, fc.constant('"NodeNames":null'), fc.constant('"Nodes":null')), { maxLength: 2 }),
    )
    .chain(([first, second, more]) => fc.shuffledSubarray([first, second, ...more], { minLength: 2 + more.length }));
  await fc.assert(
    fc.asyncProperty(verb, members, pieces, async (asked, parts, cut) => {
      const body = `{${parts.join(",")}}`;
      const said = (by: Decider, at: number[]) =>
        ask(asked, body, { by, pieces: at }).catch((error: Error) => error.message);
      expect(await said(decider, cut)).toEqual(await said(atOnce, [1e6]));
    }),
    { numRuns: 500 },
  );
});

const small = nodeOf(["n1", "c", "small", "4"]);
const ASKED = `"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":[${small}]}`;

test("A pod that is named again behind the nodes counts, unless bytes are gone that its answer needs", async () => {
  const picky = { ...decider, filtering: () => ({ keep: () => false, decide: () => ({ error: "not asked" }) }) };
  const keeping: Decider = { ...picky, decide: async () => ({ columns: [], rows: [{ scores: [] }] }) };
  await expect(ask("filter", `{${ASKED},"Pod":{}}`, { by: keeping })).rejects.toThrow(
    new ShapeError("Pod comes again behind Nodes, and is another pod: name it once"),
  );
  expect((await ask("prioritize", `{${ASKED},"Pod":{"metadata":{"name":"q"}}}`))?.fields).toMatchObject({
    pod: "default/q",
  });
});

test("A body that outgrows its limit is not answered", async () => {
  expect(await ask("filter", `{${ASKED},"Other":"${"x".repeat(1e6)}"}`)).toBeUndefined();
});
