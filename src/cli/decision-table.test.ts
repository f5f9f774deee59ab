import { describe, expect, it } from "vitest";
import type { DecisionReport, PluginScore } from "./decision.ts";
import { decisionFooter, decisionHeading, decisionTable } from "./decision-table.ts";

const plugins = (label: number | null, cost: number | null, scaled: number | null = 50): PluginScore[] => [
  { plugin: "NodeLabel", weight: 1, raw: label, scaled: label },
  { plugin: "NodeCost", weight: 3, raw: cost, scaled },
];

const report: DecisionReport = {
  policy: "default@0123456789ab",
  pod: "shop/checkout",
  milliseconds: { filter: 12, prioritize: 30 },
  nodes: [
    {
      node: "ip-10-0-0-1.example.internal",
      verdict: "refused",
      refusal: { plugin: "NodeLabel", reason: "node(s) had a label that the policy forbids" },
      plugins: plugins(null, null, null),
      score: 0,
    },
    { node: "ip-10-0-0-2.example.internal", verdict: "kept", plugins: plugins(0, 0.018_649_2), score: 0 },
    { node: "ip-10-0-0-3.example.internal", verdict: "kept", plugins: plugins(100, null, 0), score: 10 },
  ],
};

const plain = { paint: (_: unknown, text: string) => text };
const rowsAt = (width: number) =>
  decisionTable(report, { ...plain, width })
    .split("\n")
    .filter((line) => line.startsWith("│"))
    .map((line) =>
      line
        .split("│")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe("the table of a decision", () => {
  it("shows the kept nodes, best first, then the refused ones, with raw and scaled scores", () => {
    expect(rowsAt(Number.POSITIVE_INFINITY)).toEqual([
      ["node", "verdict", "reason", "NodeLabel ×1", "NodeCost ×3", "score"],
      ["ip-10-0-0-3.example.internal", "kept", "", "100 → 100", "–", "10"],
      ["ip-10-0-0-2.example.internal", "kept", "", "0 → 0", "0.0186 → 50", "0"],
      [
        "ip-10-0-0-1.example.internal",
        "refused",
        "NodeLabel: node(s) had a label that the policy forbids",
        "",
        "",
        "0",
      ],
    ]);
  });

  it("fits a terminal of 80 columns: nodes lose the domain they share, reasons are wrapped", () => {
    const table = decisionTable(report, { ...plain, width: 80 });
    for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const rows = rowsAt(80);
    expect(rows.map(([node]) => node).filter(Boolean)).toEqual(["node", "ip-10-0-0-3", "ip-10-0-0-2", "ip-10-0-0-1"]);
    expect(
      rows
        .slice(3)
        .map((row) => row[2])
        .join(" "),
    ).toBe("NodeLabel: node(s) had a label that the policy forbids");
  });

  it("keeps the names of nodes that do not share a domain", () => {
    const [first, ...others] = report.nodes;
    const mixed = { ...report, nodes: first ? [{ ...first, node: "worker-1.other" }, ...others] : [] };
    expect(decisionTable(mixed, { ...plain, width: 80 })).toContain("ip-10-0-0-3.example.internal");
  });

  it("marks the best node and each verdict where colours are wanted, without breaking the columns", () => {
    const paint = (_: unknown, text: string) => `\x1b[1m${text}\x1b[22m`;
    const coloured = decisionTable(report, { paint, width: 120 });
    expect(coloured).toContain("\x1b[1mip-10-0-0-3");
    expect(coloured).not.toContain("\x1b[1mip-10-0-0-2");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the colours
    expect(coloured.replaceAll(/\x1b\[\d+m/g, "")).toBe(decisionTable(report, { ...plain, width: 120 }));
  });

  it("is told apart by pod and policy, with the time that the function took", () => {
    expect(decisionHeading(report)).toMatch(/^pod shop\/checkout, 3 nodes/);
    expect(decisionFooter(report)).toContain(
      "policy default@0123456789ab; answered in 42 ms (filter 12 ms, prioritize 30 ms)",
    );
  });
});
