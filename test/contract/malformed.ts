import { describe, expect, it } from "vitest";
import { args, itemsText, JSON_BODY, NODES, nodeText, POD, RETIRING, SCORES } from "./fixtures.ts";
import { AS_A } from "./secrets.ts";
import type { Witness } from "./witness.ts";

const pod = JSON.stringify(POD);
const headers = { ...AS_A, ...JSON_BODY };

/** Bodies that are no `ExtenderArgs`, and what a person is told about each. */
const SHAPES: readonly (readonly [what: string, body: string, told: RegExp])[] = [
  ["an empty body", "", /^the body is empty$/],
  ["JSON that breaks off", '{"Pod":', /^the body is cut off/],
  ["JSON that breaks off inside a node", args().slice(0, -200), /^the body is cut off/],
  ["no JSON at all", "Pod=web-0", /^the body must be a JSON object/],
  ["null", "null", /^the body must be a JSON object/],
  ["an array", "[]", /^the body must be a JSON object/],
  ["a string", '"x"', /^the body must be a JSON object/],
  ["an object without a pod", "{}", /^Pod is missing$/],
  ["a pod that is null", `{"Pod":null,"Nodes":null,"NodeNames":["n1"]}`, /^Pod is missing$/],
  ["a pod that is an array", `{"Pod":[],"NodeNames":["n1"]}`, /^Pod must be an object$/],
  ["two lists that are null", `{"Pod":${pod},"Nodes":null,"NodeNames":null}`, /^Nodes and NodeNames are both missing$/],
  ["a node that is null", `{"Pod":${pod},"Nodes":{"items":[null]}}`, /^Nodes\.items\[0\] must be an object$/],
  [
    "a node without a name",
    `{"Pod":${pod},"Nodes":{"items":[{}]}}`,
    /^Nodes\.items\[0\]\.metadata\.name must be a string$/,
  ],
  ["a name that is a number", `{"Pod":${pod},"NodeNames":["n1",2]}`, /^NodeNames\[1\] must be a string$/],
  ["something after the object", `${args()}{}`, /^the body goes on after its JSON object/],
];

/** Bodies that nobody should send, and what becomes of them and of the request after them. */
export function malformed(witness: () => Witness): void {
  const ask = (verb: string, body: string, profile = "default") =>
    witness().ask(`/${profile}/${verb}`, { headers, body });

  describe.each(["filter", "prioritize"])("a malformed %s", (verb) => {
    it.each(SHAPES)("is answered with 400 and one sentence: %s (HAMi #2599, hono #562)", async (_, body, told) => {
      const answer = await ask(verb, body);
      expect(answer.status).toBe(400);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(Object.keys(answer.json)).toEqual(["error"]);
      expect(answer.json.error).toMatch(told);
      expect((await ask("prioritize", args())).json).toEqual(SCORES);
    });
  });

  it("answers with an empty list when items is null (HAMi #2599)", async () => {
    const body = `{"Pod":${pod},"Nodes":{"metadata":{},"items":null},"NodeNames":null}`;
    expect((await ask("filter", body)).json).toMatchObject({ Nodes: { items: [] }, NodeNames: null, Error: "" });
    expect((await ask("prioritize", body)).text).toBe("[]");
  });

  it("decides about nodes whose spec is null or whose status is missing", async () => {
    const nodes = [
      '{"metadata":{"name":"bare"},"spec":null}',
      '{"metadata":{"name":"null","labels":null},"status":null}',
    ];
    const { text, json } = await ask("filter", args({ nodes }));
    expect(itemsText(text)).toBe(nodes.join(","));
    expect(json.FailedAndUnresolvableNodes).toEqual({});
    const scores = await ask("prioritize", args({ nodes }));
    expect(scores.json).toEqual([
      { Host: "bare", Score: 0 },
      { Host: "null", Score: 0 },
    ]);
  });

  it("takes __proto__ and constructor for names like any other", async () => {
    const odd = nodeText("__proto__", { type: "small", labels: JSON.parse('{"__proto__":"x","constructor":"y"}') });
    const refused = nodeText("constructor", { labels: { "berth.dev/retiring": "__proto__" } });
    const body =
      `{"__proto__":{"Pod":null},"constructor":{},"Pod":{"__proto__":{"spec":1},"metadata":{"__proto__":[]},"spec":{}},` +
      `"Nodes":{"__proto__":[],"items":[${odd},${refused}]}}`;
    const { status, text, json } = await ask("filter", body);
    expect(status).toBe(200);
    expect(itemsText(text)).toBe(odd);
    expect(json.FailedAndUnresolvableNodes).toEqual({ constructor: RETIRING });
    const proto = nodeText("__proto__", { labels: { "berth.dev/retiring": "" } });
    const map = (await ask("filter", args({ nodes: [proto] }))).text;
    expect(map).toContain(`"FailedAndUnresolvableNodes":{"__proto__":"${RETIRING}"}`);
    expect((await ask("prioritize", args({ nodes: [odd] }))).json).toEqual([{ Host: "__proto__", Score: 8 }]);
  });

  describe.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("100,000 levels of %s", (_, open, close) => {
    const deep = `${open.repeat(100_000)}1${close.repeat(100_000)}`;

    it("in a pod are read or refused in words", async () => {
      for (const field of [`"spec":{"x":${deep}}`, `"metadata":{"name":${deep},"uid":${deep}}`]) {
        const { status } = await ask("filter", `{"Pod":{${field}},"NodeNames":["n1"]}`, "names-only");
        expect([200, 400]).toContain(status);
      }
      expect((await ask("prioritize", args())).json).toEqual(SCORES);
    });

    it("in a node come back as they were, and where they are read refuse that node only", async () => {
      const node = `{"metadata":{"name":"deep"},"spec":${deep}}`;
      expect(itemsText((await ask("filter", args({ nodes: [node, NODES.small] }))).text)).toBe(
        `${node},${NODES.small}`,
      );
      const read = `{"metadata":{"name":"deep"},"status":{"allocatable":{"cpu":${deep}}}}`;
      const { status, text } = await ask("filter", args({ nodes: [read, NODES.small] }));
      expect(status).toBe(200);
      expect(itemsText(text)).toBe(NODES.small);
    });
  });
}
