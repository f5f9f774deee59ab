import { describe, expect, it } from "vitest";
import { rank } from "../../policy/rank.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { explanation } from "./explanation.ts";
import { gpuReport } from "./gpus.ts";
import { explanationTable, nodeDetails } from "./table.ts";

const plain = (_: unknown, text: string) => text;
const columns = [
  { plugin: "Cheap", weight: 3, scale: "range-reversed" },
  { plugin: "Near", weight: 1, scale: "none" },
] as const;
const answer: JsonObject = {
  profile: "default",
  version: "abc",
  columns,
  rows: [
    { scores: [10, 50] },
    { scores: [2, 40] },
    { refusal: { plugin: "Strict", reason: "no", unresolvable: true } },
    { scores: [6, null] },
  ],
  findings: [
    [
      { plugin: "Strict", facts: { label: "a" } },
      { plugin: "Cheap", facts: {}, score: 10 },
      { plugin: "Near", facts: {}, score: 50 },
    ],
    [
      { plugin: "Strict", facts: {} },
      { plugin: "Cheap", facts: {}, score: 2 },
      { plugin: "Near", facts: {}, score: 40 },
    ],
    [
      { plugin: "Strict", facts: {}, refusal: { reason: "no", reasons: ["no", "not at all"], unresolvable: true } },
      { plugin: "Cheap", facts: {}, refusal: { reason: "too dear", unresolvable: false } },
      { plugin: "Near", facts: {} },
    ],
    [
      { plugin: "Strict", facts: {} },
      { plugin: "Cheap", facts: {}, score: 6 },
      { plugin: "Near", facts: {} },
    ],
  ],
};
const asked = { pod: "default/p", source: "from a test", nodes: ["dear", "cheap", "refused", "middle"] };
const explained = explanation(asked, answer);
const node = (name: string) => explained.nodes.find((each) => each.node === name);

describe("explanation", () => {
  it("has the best node first and refused ones last, with the scores that kube-scheduler gets", () => {
    expect(explained.nodes.map(({ node: name }) => name)).toEqual(["cheap", "middle", "dear", "refused"]);
    const scores = rank(columns, [[10, 50], [2, 40], undefined, [6, undefined]]);
    expect(asked.nodes.map((name) => node(name)?.score)).toEqual(scores);
  });

  it("splits each mean into what every plugin adds", () => {
    for (const { mean, plugins } of explained.nodes.filter(({ verdict }) => verdict === "kept")) {
      expect(plugins.reduce((sum, { weighted }) => sum + (weighted ?? 0), 0)).toBeCloseTo(mean ?? -1);
    }
    expect(node("cheap")?.plugins[1]).toMatchObject({ raw: 2, scaled: 100, weighted: 75, behind: null });
  });

  it("tells by which plugins a node loses, and by how much", () => {
    const behind = node("dear")?.plugins.map((part) => part.behind);
    expect(behind).toEqual([null, 75, -2.5]);
  });

  it("has every reason of every plugin, not the first alone", () => {
    expect(node("refused")?.reasons).toEqual([
      { plugin: "Strict", reason: "no", unresolvable: true },
      { plugin: "Strict", reason: "not at all", unresolvable: true },
      { plugin: "Cheap", reason: "too dear", unresolvable: false },
    ]);
  });

  it("takes a node that is barred out of the comparison, with the reason", () => {
    const all = explanation({ ...asked, barred: new Map([["cheap", "its ledger is closed"]]) }, answer);
    const cheap = all.nodes.find((each) => each.node === "cheap");
    expect(cheap).toMatchObject({
      verdict: "refused",
      score: 0,
      reasons: [{ plugin: "Binder", reason: "its ledger is closed" }],
    });
    expect(all.nodes[0]?.node).toBe("middle");
  });
});

describe("explanationTable", () => {
  it("shows the verdict, the scores on their way, and why a node loses", () => {
    const table = explanationTable(explained.nodes, { paint: plain as never, width: Number.POSITIVE_INFINITY });
    const line = (name: string) => table.split("\n").find((each) => each.includes(`│ ${name} `)) ?? "";
    expect(line("cheap")).toMatch(/kept .* 2 → 100 .* 40 → 40 .* 85 .* 9 .* best/);
    expect(line("dear")).toMatch(/kept .* 10 → 0 .* 50 → 50 .* 12\.5 .* 1 .* Cheap −75, Near \+2\.5/);
    expect(line("middle")).toMatch(/6 → 50 .* – /);
    expect(table).toContain("Strict: not at all (for good)");
  });

  it("keeps facts and numbers of one node for the details", () => {
    const dear = node("dear");
    const details = dear && nodeDetails(dear, plain as never);
    expect(details).toContain('label: "a"');
    expect(details).toContain("Cheap ×3: raw 10, scaled 0, adds 0 to the mean, 75 behind the best");
  });
});

describe("gpuReport", () => {
  const pods = [{ name: "train", namespace: "ml", usedGPU: 6 }];
  const nodes = [
    {
      name: "gpu-1",
      totalGPU: 16,
      usedGPU: 6,
      devs: [
        { id: 0, totalGPU: 8, usedGPU: 6, pods },
        { id: 1, totalGPU: 8, usedGPU: 0, pods: [] },
      ],
    },
  ];

  it("shows each device as a bar with its numbers and its holders", () => {
    expect(gpuReport(nodes, plain as never)).toBe(
      [
        "gpu-1  ███████▌░░░░░░░░░░░░ 6/16 (38 %)",
        "  GPU 0  ███████████████░░░░░ 6/8 (75 %)",
        "         6  ml/train",
        "  GPU 1  ░░░░░░░░░░░░░░░░░░░░ 0/8 (0 %)",
        "",
        "all  6/16 (38 %)",
      ].join("\n"),
    );
  });

  it("says so where more is used than there is, and where there is nothing", () => {
    const over = [{ name: "n", totalGPU: 8, usedGPU: 9, devs: [] }];
    expect(gpuReport(over, plain as never)).toContain("9/8 (113 %) more than there is");
    expect(gpuReport([], plain as never)).toMatch(/^no node has GPU memory/);
  });
});
