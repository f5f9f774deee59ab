import { describe, expect, it } from "vitest";
import { nodeLabel } from "./node-label.ts";

function judge(args: unknown) {
  return nodeLabel.prepare(nodeLabel.args.parse(args), {}, {});
}

describe("NodeLabel", () => {
  it("refuses a node without a required label, for good: eviction cannot give it one", () => {
    const { filter } = judge({ require: { disk: ["ssd", "nvme"] } });
    expect(filter?.({ labels: { disk: "nvme" } })).toBeUndefined();
    const refusal = { reason: "node(s) didn't have a label that the policy requires", unresolvable: true };
    expect(filter?.({ labels: { disk: "hdd" } })).toEqual(refusal);
    expect(filter?.({ labels: {} })).toEqual(refusal);
  });

  it("takes any value of a required label when no values are listed", () => {
    const { filter } = judge({ require: { team: [] } });
    expect(filter?.({ labels: { team: "" } })).toBeUndefined();
    expect(filter?.({ labels: {} })?.unresolvable).toBe(true);
  });

  it("refuses a node with a forbidden value, or with the label at all when no values are listed", () => {
    const { filter } = judge({ forbid: { lifecycle: ["spot"], retiring: [] } });
    expect(filter?.({ labels: { lifecycle: "on-demand" } })).toBeUndefined();
    const refusal = { reason: "node(s) had a label that the policy forbids", unresolvable: true };
    expect(filter?.({ labels: { lifecycle: "spot" } })).toEqual(refusal);
    expect(filter?.({ labels: { retiring: "" } })).toEqual(refusal);
  });

  it("needs every required label and no forbidden one", () => {
    const { filter } = judge({ require: { a: ["1"], b: ["1"] }, forbid: { c: ["1"] } });
    expect(filter?.({ labels: { a: "1", b: "1", c: "2" } })).toBeUndefined();
    expect(filter?.({ labels: { a: "1" } })).toBeDefined();
    expect(filter?.({ labels: { a: "1", b: "1", c: "1" } })).toBeDefined();
  });

  it("prefers values in the order they are listed, over all preferred labels together", () => {
    const { score } = judge({ prefer: { zone: ["a", "b"], disk: ["nvme"] } });
    expect(score?.({ labels: { zone: "a", disk: "nvme" } })).toBe(100);
    expect(score?.({ labels: { zone: "b", disk: "nvme" } })).toBe(75);
    expect(score?.({ labels: { zone: "b" } })).toBe(25);
    expect(score?.({ labels: { zone: "c" } })).toBe(0);
  });

  it("does not score when nothing is preferred, so that its weight does not thin out what others say", () => {
    expect(judge({ require: { a: [] } }).score).toBeUndefined();
  });

  it("reads no label but those that its arguments name", () => {
    const args = nodeLabel.args.parse({ require: { a: [] }, forbid: { b: [] }, prefer: { c: ["x"] } });
    const labels = nodeLabel.reads(args, {} as never).node?.labels;
    expect(labels?.read?.({ metadata: { labels: { a: "1", b: "2", c: "3", hostname: "x" } } }, 0)).toEqual(
      Object.assign(Object.create(null), { a: "1", b: "2", c: "3" }),
    );
  });

  it("refuses arguments that it does not know", () => {
    expect(nodeLabel.args.safeParse({ required: { a: [] } }).success).toBe(false);
    expect(nodeLabel.args.safeParse({ prefer: { a: [] } }).success).toBe(false);
  });
});
