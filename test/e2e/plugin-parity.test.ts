import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { goJudges, type PluginJudgement, type PluginQuestion, pluginsProgram } from "../controlplane/plugins.ts";
import { question } from "../parity/cases.ts";
import { SHARED_PLUGINS, weJudge } from "../parity/ours.ts";
import { gated } from "./gate.ts";

/** The same pods every time; another seed finds other pods. */
const SEED = Number(process.env["BERTH_PARITY_SEED"] ?? 20261201);
const PODS = Number(process.env["BERTH_PARITY_PODS"] ?? 500);

type Judgements = Readonly<Record<string, PluginJudgement>>;

await gated("the plugins that kube-scheduler has too", [pluginsProgram], () => {
  let questions: PluginQuestion[];
  let theirs: Judgements[];
  let ours: Judgements[];
  beforeAll(async () => {
    questions = fc.sample(question, { numRuns: PODS, seed: SEED });
    const answers = await goJudges(questions);
    theirs = answers.map(({ plugins }) => sorted(plugins));
    ours = answers.map(({ pod, pods, nodes }, index) => weJudge({ ...questions[index], pod, pods, nodes }));
  }, 600_000);

  describe.each(SHARED_PLUGINS)("%s", (plugin) => {
    it("refuses the same nodes for the same reasons, and calls the same refusals curable", () => {
      for (const [index, each] of theirs.entries()) {
        expect(ours[index]?.[plugin]?.refusals, describeCase(questions[index])).toEqual(each[plugin]?.refusals);
      }
    });

    it("gives the same raw scores", () => {
      for (const [index, each] of theirs.entries()) {
        expect(ours[index]?.[plugin]?.raw, describeCase(questions[index])).toEqual(each[plugin]?.raw);
      }
    });

    it("gives the same scores after normalization", () => {
      for (const [index, each] of theirs.entries()) {
        expect(ours[index]?.[plugin]?.normalized, describeCase(questions[index])).toEqual(each[plugin]?.normalized);
      }
    });
  });

  it("were asked about pods that bring out every reason there is", () => {
    const reasons = theirs.flatMap((each) =>
      SHARED_PLUGINS.flatMap((plugin) => Object.values(each[plugin]?.refusals ?? {}).flatMap((given) => given.reasons)),
    );
    expect([...new Set(reasons)].sort()).toEqual(REASONS);
  });

  it("were asked about every operator, every strategy, and pods with any kind of resources", () => {
    const text = JSON.stringify(questions);
    for (const word of WORDS) expect(text, word).toContain(word);
  });

  it("kept some nodes and refused some, and scored them differently, each of them", () => {
    for (const plugin of SHARED_PLUGINS) {
      const judged = theirs.map((each) => each[plugin] as PluginJudgement);
      const refused = judged.reduce((sum, { refusals }) => sum + Object.keys(refusals).length, 0);
      expect(refused, plugin).toBeLessThan(6 * PODS);
      if (plugin !== "NodeResourcesBalancedAllocation") expect(refused, plugin).toBeGreaterThan(PODS / 50);
      const scores = new Set(judged.flatMap(({ normalized }) => Object.values(normalized ?? {})));
      if (judged.some(({ raw }) => raw !== null)) expect(scores.size, plugin).toBeGreaterThan(3);
    }
  });
});

const REASONS = [
  "Insufficient cpu",
  "Insufficient ephemeral-storage",
  "Insufficient example.com/gpu",
  "Insufficient hugepages-2Mi",
  "Insufficient memory",
  "Too many pods",
  "node(s) didn't have free ports for the requested pod ports",
  "node(s) didn't match Pod's node affinity/selector",
  "node(s) didn't match scheduler-enforced node affinity",
  "node(s) didn't match the requested node name",
  "node(s) had untolerated taint(s)",
  "node(s) were unschedulable",
  "pod affinity terms conflict",
];

const WORDS = [
  ...["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal"].map((operator) => `"operator":"${operator}"`),
  ...["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", "ignoredResources", "ignoredResourceGroups"],
  ...["overhead", "allocatedResources", '"restartPolicy":"Always"', "Infeasible", "matchFields", "hostNetwork"],
];

/** Reasons are compared as sets. */
function sorted(judgements: Judgements): Judgements {
  const entries = Object.entries(judgements).map(([plugin, each]) => {
    const refusals = Object.entries(each.refusals).map(([node, refusal]) => [
      node,
      { ...refusal, reasons: [...new Set(refusal.reasons)].sort() },
    ]);
    return [plugin, { ...each, refusals: Object.fromEntries(refusals) }];
  });
  return Object.fromEntries(entries);
}

function describeCase(asked: PluginQuestion | undefined): string {
  return JSON.stringify(asked);
}
