import { describe, expect, it, vi } from "vitest";
import { args, itemsText, JSON_BODY, NODES, nodeText, POD } from "./fixtures.ts";
import { AS_A } from "./secrets.ts";
import type { Witness } from "./witness.ts";

const headers = { ...AS_A, ...JSON_BODY };

/** Amounts that no Kubernetes wrote. */
const BAD = ["1x", "", "1 Gi", "0x10", "1e", "--1", true, [], {}];

/** What becomes of quantities that cannot be read. */
export function quantities(witness: () => Witness): void {
  const ask = (verb: string, body: string) => witness().ask(`/default/${verb}`, { headers, body });

  describe.each(BAD.map((bad) => [JSON.stringify(bad), bad] as const))("a quantity of %s", (_, bad) => {
    it("in the pod is refused with the field's name, and scored zero", async () => {
      const container = (cpu: unknown) => ({ name: "c", resources: { requests: { cpu } } });
      const pod = { ...POD, spec: { containers: [container("1"), container(bad)] } };
      const filter = await ask("filter", args({ pod, nodes: [NODES.small] }));
      expect(filter.status).toBe(200);
      expect(filter.json).toMatchObject({ Nodes: null, NodeNames: null });
      expect(filter.json.Error).toMatch(
        /^plugin NodeCost: pod field spec\.containers\[1\]\.resources\.requests\.cpu: /,
      );
      const prioritize = await ask("prioritize", args({ pod, nodes: [NODES.small] }));
      expect(prioritize.json).toEqual([{ Host: "small", Score: 0 }]);
    });

    it("in a node refuses that node alone, with a reason that never varies, and the log names node and field", async () => {
      const nodes = ["first", "second"].map((name) =>
        nodeText(name, { type: "small", allocatable: { cpu: "4", memory: bad } }),
      );
      const { headers: answered, text, json } = await ask("filter", args({ nodes: [...nodes, NODES.small] }));
      expect(itemsText(text)).toBe(NODES.small);
      const reason = "node(s) had a field that the policy could not read";
      expect(json.FailedAndUnresolvableNodes).toEqual({ first: reason, second: reason });
      const request = answered.get("berth-request");
      await vi.waitFor(() => {
        const line = witness()
          .lines()
          .find((each) => each["request"] === request);
        expect(line).toMatchObject({ message: "decision", refused: { NodeCost: 2 } });
        expect(line?.["unreadable"]).toEqual([
          expect.stringMatching(/^first: status\.allocatable\.memory: /),
          expect.stringMatching(/^second: status\.allocatable\.memory: /),
        ]);
      });
      const scores = await ask("prioritize", args({ nodes: [nodes[0] ?? "", NODES.small] }));
      expect(scores.json).toEqual([
        { Host: "first", Score: 0 },
        { Host: "small", Score: 10 },
      ]);
    });
  });
}
