import { describe, expect, it } from "vitest";
import { args, itemsText, JSON_BODY, NODES, nodeText, POD, RETIRING, SCORES } from "./fixtures.ts";
import { AS_A, AS_B } from "./secrets.ts";
import type { Witness } from "./witness.ts";

const as = { a: { ...AS_A, ...JSON_BODY }, b: { ...AS_B, ...JSON_BODY } };
const kept = [NODES.small, NODES.large, NODES.paid, NODES.unpriced];
const names = ["n1", "n2", "n3"];

/** filter and prioritize as kube-scheduler asks them. */
export function decisions(witness: () => Witness): void {
  const ask = (verb: string, body: string, profile = "default") =>
    witness().ask(`/${profile}/${verb}`, { headers: profile === "batch" ? as.b : as.a, body });

  describe("filter", () => {
    it("sends back the nodes that fit as the request has them, byte for byte and in order", async () => {
      const { status, headers, text, json } = await ask("filter", args());
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe("application/json");
      expect(itemsText(text)).toBe(kept.join(","));
      expect(json).toMatchObject({ NodeNames: null, FailedNodes: {}, Error: "" });
    });

    it("sends back nodes that do not stand side by side byte for byte too", async () => {
      const { text } = await ask("filter", args({ nodes: [NODES.paid, NODES.retiring, NODES.small] }));
      expect(itemsText(text)).toBe(`${NODES.paid},${NODES.small}`);
    });

    it("gives a reason for each refused node, where eviction cannot help in that map only (kubernetes #91281)", async () => {
      const { json } = await ask("filter", args());
      expect(json.FailedAndUnresolvableNodes).toEqual({ retiring: RETIRING });
      expect(json.FailedNodes).toEqual({});
      const required = await ask("filter", args(), "batch");
      expect(required.json.FailedNodes).toEqual({});
      expect(Object.keys(required.json.FailedAndUnresolvableNodes).sort()).toEqual(Object.keys(NODES).sort());
    });

    it("answers names with names and nodes with nodes (kubernetes #126425)", async () => {
      const byName = await ask("filter", args({ names }), "names-only");
      expect(byName.json).toMatchObject({ Nodes: null, NodeNames: names, FailedNodes: {}, Error: "" });
      const byNode = await ask("filter", args(), "names-only");
      expect(byNode.json.NodeNames).toBeNull();
      expect(itemsText(byNode.text)).toBe(Object.values(NODES).join(","));
    });

    it("says that node names are not enough for a policy that reads nodes, and which setting to change (kubernetes #126425)", async () => {
      const { status, json } = await ask("filter", args({ names }));
      expect(status).toBe(200);
      expect(json.Error).toMatch(/profile default reads metadata\.labels.*nodeCacheCapable: false/);
      expect(json).toMatchObject({ Nodes: null, NodeNames: null });
    });

    it("answers Nodes when both lists are there", async () => {
      const { json } = await ask("filter", args({ nodes: [NODES.small], names: ["small", "other"] }));
      expect(json.Nodes.items).toHaveLength(1);
      expect(json.NodeNames).toBeNull();
    });

    it("never names a node that it was not asked about, and every node once (kubernetes #79640)", async () => {
      const { text, json } = await ask("filter", args({ nodes: [NODES.small, NODES.retiring, NODES.small] }));
      expect(itemsText(text)).toBe(NODES.small);
      expect(json.FailedAndUnresolvableNodes).toEqual({ retiring: RETIRING });
      const byName = await ask("filter", args({ names: ["n2", "n1", "n2"] }), "names-only");
      expect(byName.json.NodeNames).toEqual(["n2", "n1"]);
      const nothing = await ask("filter", args({ nodes: [NODES.retiring] }));
      expect(nothing.json.Nodes.items).toEqual([]);
    });

    it("gives every node back under a profile without plugins (platform-aware-scheduling #29)", async () => {
      const { text, json } = await ask("filter", args(), "empty");
      expect(itemsText(text)).toBe(Object.values(NODES).join(","));
      expect(json).toMatchObject({ FailedNodes: {}, FailedAndUnresolvableNodes: {}, Error: "" });
    });
  });

  describe("prioritize", () => {
    it("scores every node of the request, in order, with whole numbers from 0 to 10", async () => {
      const { status, text, json } = await ask("prioritize", args());
      expect(status).toBe(200);
      expect(json).toEqual(SCORES);
      expect(text).toBe(JSON.stringify(SCORES));
    });

    it("scores names where the policy reads no more than names, the same each time", async () => {
      const [once, again] = [
        await ask("prioritize", args({ names }), "names-only"),
        await ask("prioritize", args({ names }), "names-only"),
      ];
      expect(once.json.map(({ Host }: { Host: string }) => Host)).toEqual(names);
      for (const { Score } of once.json) expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).toContain(Score);
      expect(again.text).toBe(once.text);
    });

    it("gives zeros and counts it where it cannot decide, for it has no way to say so (kubernetes #126425)", async () => {
      const before = (await witness().ask("/healthz")).json.prioritizeGaveZeros;
      const { status, json } = await ask("prioritize", args({ names }));
      expect(status).toBe(200);
      expect(json).toEqual(names.map((Host) => ({ Host, Score: 0 })));
      expect((await witness().ask("/healthz")).json.prioritizeGaveZeros).toBe(before + 1);
    });

    it("gives every node zero under a profile without plugins (platform-aware-scheduling #29)", async () => {
      const { json } = await ask("prioritize", args(), "empty");
      expect(json).toEqual(Object.keys(NODES).map((Host) => ({ Host, Score: 0 })));
    });

    it("scores a node that stands in the request twice once", async () => {
      const { json } = await ask("prioritize", args({ nodes: [NODES.paid, NODES.large, NODES.paid] }));
      expect(json.map(({ Host }: { Host: string }) => Host)).toEqual(["paid", "large"]);
    });
  });

  it.each([
    ["lower camel case", '{"pod":<pod>,"nodes":{"items":[<node>]},"nodeNames":null}'],
    ["upper camel case", '{"Pod":<pod>,"Nodes":{"items":[<node>]}}'],
    ["capitals", '{"POD":<pod>,"NODES":{"ITEMS":[<node>]},"NODENAMES":null}'],
    ["lower case", '{"nodenames":null,"nodes":{"metadata":{},"items":[<node>]},"pod":<pod>}'],
  ])("decides the same whatever casing the outer keys have: %s (kubernetes #88634)", async (_, shape) => {
    const body = (node: string) => shape.replace("<pod>", JSON.stringify(POD)).replace("<node>", node);
    expect(itemsText((await ask("filter", body(NODES.small))).text)).toBe(NODES.small);
    expect((await ask("filter", body(NODES.retiring))).json.FailedAndUnresolvableNodes).toEqual({ retiring: RETIRING });
    expect((await ask("prioritize", body(NODES.small))).json).toEqual([{ Host: "small", Score: 10 }]);
  });

  it("reads node names in any casing of their key (kubernetes #88634)", async () => {
    const pod = JSON.stringify(POD);
    for (const body of [`{"POD":${pod},"nodeNames":["n1"]}`, `{"Pod":${pod},"NodeNames":["n1"],"Nodes":null}`]) {
      expect((await ask("filter", body, "names-only")).json).toMatchObject({ Nodes: null, NodeNames: ["n1"] });
    }
  });

  it("leaves the inside of pods and nodes alone: keys there count in their own casing only", async () => {
    const shouting = nodeText("shouting", { type: "small" }).replace('"labels"', '"LABELS"');
    const { text } = await ask(
      "filter",
      args({ nodes: [shouting.replace("kubernetes.io/hostname", "berth.dev/retiring")] }),
    );
    expect(text).toContain('"LABELS"');
    expect(JSON.parse(text).Nodes.items).toHaveLength(1);
  });
}
