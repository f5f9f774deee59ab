import { describe, expect, it } from "vitest";
import compiled from "#policy" with { type: "json" };
import { loadCompiled } from "../../src/policy/compiled.ts";
import { factToJson } from "../../src/policy/fact-json.ts";
import { viewsOf } from "../../src/policy/policy.ts";
import { rank } from "../../src/policy/rank.ts";
import { registry } from "../../src/policy/registry.ts";
import { Unreadable } from "../../src/policy/view.ts";
import { args, JSON_BODY, NODES, nodeText, POD, RETIRING } from "./fixtures.ts";
import { AS_A, AS_B } from "./secrets.ts";
import type { Witness } from "./witness.ts";

const views = [...(await loadCompiled(compiled, registry)).policies.values()].flatMap(viewsOf);
const nodes = Object.values(NODES).map((text) => JSON.parse(text));

interface Described {
  readonly protocol: number;
  readonly plugins: readonly { reads: Record<"pod" | "node", readonly { name: string }[]> }[];
}

/** The facts of an object by the names of views, read as any host reads them. */
function factsOf(object: never, names: readonly string[]) {
  return Object.fromEntries(
    names.map((name) => {
      const fact = views.find((view) => view.name === name)?.read?.(object, 0);
      const { field, problem } = fact instanceof Unreadable ? fact : { field: undefined, problem: undefined };
      return [name, field === undefined ? factToJson(fact) : { unreadable: { field, problem } }];
    }),
  );
}

/** A profile described, and questions in facts about it. */
export function evaluation(witness: () => Witness): void {
  const describeProfile = async (profile = "default", headers = AS_A): Promise<Described> =>
    (await witness().ask(`/${profile}`, { headers })).json;
  const evaluate = (question: unknown, profile = "default", headers = AS_A) =>
    witness().ask(`/${profile}/evaluate`, { headers: { ...headers, ...JSON_BODY }, body: JSON.stringify(question) });

  /** The question that an asker makes from what the profile says it reads. */
  const questionAbout = (described: Described, objects: readonly unknown[] = nodes) => {
    const names = (of: "pod" | "node") => described.plugins.flatMap(({ reads }) => reads[of].map(({ name }) => name));
    return {
      protocol: described.protocol,
      pod: factsOf(POD as never, names("pod")),
      nodes: objects.map((node) => factsOf(node as never, names("node"))),
    };
  };

  describe("evaluate", () => {
    it.each(["default", "batch", "names-only", "empty"])(
      "says of facts what filter and prioritize say of the objects: profile %s",
      async (profile) => {
        const as = profile === "batch" ? AS_B : AS_A;
        const question = questionAbout(await describeProfile(profile, as));
        const { status, headers, json } = await evaluate(question, profile, as);
        expect(status).toBe(200);
        expect(headers.get("berth-policy")).toBe(`${json.profile}@${json.version}`);
        const objects = { headers: { ...as, ...JSON_BODY }, body: args() };
        const filter = await witness().ask(`/${profile}/filter`, objects);
        const refusals = nodes.map(({ metadata }) => filter.json.FailedAndUnresolvableNodes[metadata.name]);
        expect(json.rows.map((row: { refusal?: { reason: string } }) => row.refusal?.reason)).toEqual(refusals);
        const scores = json.rows.map(({ scores }: { scores?: (number | null)[] }) =>
          scores?.map((each) => each ?? undefined),
        );
        const prioritize = await witness().ask(`/${profile}/prioritize`, objects);
        expect(rank(json.columns, scores)).toEqual(prioritize.json.map(({ Score }: { Score: number }) => Score));
      },
    );

    it("asks only the plugins that are named, in their order", async () => {
      const question = { ...questionAbout(await describeProfile()), plugins: ["NodeCost"] };
      const { json } = await evaluate(question);
      expect(json.columns).toEqual([{ plugin: "NodeCost", weight: 3, scale: "range-reversed" }]);
      expect(json.rows.map(({ scores }: { scores: unknown[] }) => scores)).toEqual([
        [0.025],
        [0.1],
        [0],
        [null],
        [0.025],
      ]);
    });

    it("explains with every plugin's facts, verdict and raw score", async () => {
      const question = { ...questionAbout(await describeProfile()), explain: true };
      const { findings } = (await evaluate(question)).json;
      expect(findings[0]).toEqual([
        { plugin: "NodeLabel", facts: { labels: { "topology.kubernetes.io/zone": "zone-a" } }, score: 100 },
        {
          plugin: "NodeCost",
          facts: {
            labels: { "node.kubernetes.io/instance-type": "small" },
            allocatable: { cpu: "4000", memory: `${16 * 2 ** 30}` },
          },
          score: 0.025,
        },
      ]);
      expect(findings[4][0]).toMatchObject({ plugin: "NodeLabel", refusal: { reason: RETIRING, unresolvable: true } });
    });

    it("explains which field of which node could not be read", async () => {
      const broken = JSON.parse(nodeText("broken", { type: "small", allocatable: { memory: "1x" } }));
      const question = { ...questionAbout(await describeProfile(), [broken, nodes[0]]), explain: true };
      const { rows, findings } = (await evaluate(question)).json;
      const reason = "node(s) had a field that the policy could not read";
      expect(rows[0]).toEqual({ refusal: { plugin: "NodeCost", reason, unresolvable: true } });
      expect(rows[1].scores).toHaveLength(2);
      expect(findings[0][1]).toMatchObject({
        plugin: "NodeCost",
        facts: { "status.allocatable.memory": expect.stringContaining("1x") },
        refusal: { reason },
      });
    });

    it.each([
      ["another protocol", { protocol: 2 }, /^protocol must be 1/],
      ["no protocol", { protocol: undefined }, /^protocol must be 1/],
      [
        "a plugin that the profile lacks",
        { plugins: ["NodeCost", "Random"] },
        /^plugins\[1\] is not a plugin of profile default; it has NodeLabel, NodeCost$/,
      ],
      ["a plugin twice", { plugins: ["NodeCost", "NodeCost"] }, /^plugins names a plugin twice$/],
      ["plugins that are no list", { plugins: "NodeCost" }, /^plugins and nodes must be arrays$/],
      ["no pod", { pod: undefined }, /^pod must be an object of facts/],
      ["a pod without a fact", { pod: {} }, /^pod lacks the fact podNonZeroRequests$/],
      ["no nodes", { nodes: undefined }, /^plugins and nodes must be arrays$/],
      ["a node that is null", { nodes: [null] }, /^nodes\[0\] must be an object of facts/],
      ["a node without a fact", { nodes: [{}] }, /^nodes\[0\] lacks the fact nodeLabels\(/],
      ["a fact of another kind", { pod: { podNonZeroRequests: { cpu: 1 } } }, /^pod\.podNonZeroRequests is not what/],
      [
        "a pod that could not be read",
        { pod: { podNonZeroRequests: { unreadable: { field: "spec.x", problem: "is bad" } } } },
        /^plugin NodeCost: spec\.x: is bad$/,
      ],
    ])("answers 400 with the place to a question with %s", async (_, change, told) => {
      const { status, json } = await evaluate({ ...questionAbout(await describeProfile()), ...change });
      expect(status).toBe(400);
      expect(json.error).toMatch(told);
    });

    it.each(["", "{", "null", "[]", '"x"', "7"])("answers 400 to a body of %j", async (body) => {
      const answer = await witness().ask("/default/evaluate", { headers: { ...AS_A, ...JSON_BODY }, body });
      expect(answer.status).toBe(400);
      expect(answer.json.error).toMatch(/^the body (is not JSON|must be a JSON object)$/);
    });
  });

  describe("GET of a profile", () => {
    it("tells what the profile does and reads, and everything else that is needed to decide by it", async () => {
      const { status, headers, json } = await witness().ask("/default", { headers: AS_A });
      expect(status).toBe(200);
      expect(headers.get("berth-policy")).toBe(`default@${json.version}`);
      expect(json).toMatchObject({
        profile: "default",
        plugins: [
          { name: "NodeLabel", weight: 1, scale: "none", near: false },
          { name: "NodeCost", weight: 3, scale: "range-reversed", near: false, args: { unpriced: "last" } },
        ],
        facts: { kind: "FleetFacts", currency: "EUR" },
      });
    });

    it("answers 304 as long as nothing has changed, and HEAD without a body", async () => {
      const first = await witness().ask("/default", { headers: AS_A });
      const tag = first.headers.get("etag") ?? "";
      const again = await witness().ask("/default", { headers: { ...AS_A, "If-None-Match": tag } });
      expect([again.status, again.text]).toEqual([304, ""]);
      const changed = await witness().ask("/default", { headers: { ...AS_A, "If-None-Match": '"default@000"' } });
      expect([changed.status, changed.text]).toEqual([200, first.text]);
      const head = await witness().ask("/default", { method: "HEAD", headers: AS_A });
      expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", tag]);
    });
  });
}
