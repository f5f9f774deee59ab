import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hasRealData, realDataFolder } from "../../test/realdata.ts";
import { formatFault } from "../policy/source.ts";
import { readPolicyFile } from "./policy-file.ts";

async function read(policy: unknown) {
  const text =
    typeof policy === "string"
      ? policy
      : JSON.stringify({ kind: "Policy", apiVersion: "v1", ...(policy as object) }, null, 1);
  const read = await readPolicyFile(text, "policy.cfg");
  if ("faults" in read) return { faults: read.faults.map(formatFault) };
  const { policy: made, extenders } = read.value;
  const seats = made.plugins.map(({ spec, weight }) => (spec.scale ? `${spec.name}×${weight}` : spec.name));
  return { seats, extenders, policy: made };
}

const names = (...list: string[]) => list.map((name) => ({ name }));
const extender = { urlPrefix: "http://127.0.0.1:12345/api/scheduler", filterVerb: "predicates/always_true" };

describe("predicates and priorities by their old names", () => {
  it("become the filters and the scores of the plugins that have taken their place, each by itself", async () => {
    const { seats } = await read({
      predicates: names("HostName", "MatchNodeSelector", "PodFitsResources"),
      priorities: [{ name: "LeastRequestedPriority", weight: 2 }],
    });
    expect(seats).toEqual([
      ...["NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeResourcesFit"],
      "NodeResourcesFit×2",
    ]);
  });

  it("take all the names that had a meaning here", async () => {
    const { seats } = await read({
      predicates: names("GeneralPredicates", "PodFitsHostPorts", "PodFitsPorts", "PodToleratesNodeTaints"),
      priorities: [
        "MostRequestedPriority",
        "BalancedResourceAllocation",
        "NodeAffinityPriority",
        "TaintTolerationPriority",
      ].map((name) => ({ name, weight: 1 })),
    });
    expect(seats).toEqual([
      ...["NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"],
      ...["NodeResourcesFit×1", "NodeResourcesBalancedAllocation×1", "NodeAffinity×1", "TaintToleration×1"],
    ]);
  });

  it("are kube-scheduler's defaults where the file has none, and nothing where it lists nothing", async () => {
    expect((await read({})).seats).toHaveLength(10);
    expect((await read({ predicates: [], priorities: [] })).seats).toEqual(["NodeUnschedulable", "TaintToleration"]);
  });

  it("can pack and spread at once, for each has its own arguments", async () => {
    const { policy } = await read({
      predicates: [],
      priorities: names("LeastRequestedPriority", "MostRequestedPriority").map((each) => ({ ...each, weight: 1 })),
    });
    const types = policy?.plugins
      .slice(2)
      .map(({ args }) => (args as { scoringStrategy: { type: string } }).scoringStrategy.type);
    expect(types).toEqual(["LeastAllocated", "MostAllocated"]);
  });

  it("give equal files equal versions, and others others", async () => {
    const [left, right, other] = await Promise.all([read({}), read({}), read({ predicates: [] })]);
    expect(left.policy?.version).toBe(right.policy?.version);
    expect(left.policy?.version).not.toBe(other.policy?.version);
  });
});

describe("faults of a Policy file", () => {
  it("are reported together, each with its line, and an unknown name with the known ones", async () => {
    const { faults } = await read(`{
  "kind": "Policy", "apiVersion": "v1",
  "predicates": [{"name": "NoDiskConflict"}, {"name": "HostName"}, {"name": "HostName"}],
  "priorities": [{"name": "SelectorSpreadPriority", "weight": 1}, {"name": "LeastRequestedPriority", "weight": 0}],
  "extenders": [
    {"URLPREFIX": "ftp://x", "prioritizeVerb": "prioritize", "httptimeout": "5s", "bindverb": "b"},
    {"urlPrefix": "https://x", "bindVerb": "b", "tlsConfig": {"insecure": true, "caFile": "ca"}, "nodeCacheCapabel": true}
  ]
}`);
    expect(faults).toHaveLength(10);
    expect(faults?.[0]).toBe(
      'policy.cfg:3:27 predicates[0].name: "NoDiskConflict" is no predicate that is known here: HostName, ' +
        "MatchNodeSelector, PodFitsResources, PodFitsHostPorts, PodFitsPorts, GeneralPredicates, " +
        "PodToleratesNodeTaints, CheckNodeUnschedulable",
    );
    const text = faults?.join("\n") ?? "";
    for (const part of [
      "policy.cfg:3:77 predicates[2].name: stands in the list already",
      'policy.cfg:4:27 priorities[0].name: "SelectorSpreadPriority" is no priority that is known here: LeastReq',
      "priorities[1].weight: must be at least 1",
      "policy.cfg:6:19 extenders[0].URLPREFIX: must be an http or https URL",
      "extenders[0].weight: must be more than 0 for an extender that prioritizes",
      "extenders[0].httptimeout: must be a whole number of nanoseconds",
      "policy.cfg:7:44 extenders[1].bindVerb: only one extender may bind",
      "extenders[1].tlsConfig: is insecure and has a CA",
      "extenders[1].nodeCacheCapabel: unknown key, did you mean nodeCacheCapable?",
    ]) {
      expect(text).toContain(part);
    }
  });

  it("tell a file of another kind", async () => {
    expect((await read("kind: KubeSchedulerConfiguration\napiVersion: v1\n")).faults).toEqual([
      'policy.cfg:1:7 kind: must be Policy, not "KubeSchedulerConfiguration"',
    ]);
  });
});

describe("extenders of a Policy file", () => {
  it("take keys in any casing, and what they leave out is what kube-scheduler took for it", async () => {
    const { extenders } = await read({
      Extenders: [{ ...extender, enableHttps: true, NodeCacheCapable: true, HTTPTimeout: 100_000_000 }],
    });
    expect(extenders).toEqual([
      {
        ...extender,
        ...{
          preemptVerb: "",
          prioritizeVerb: "",
          bindVerb: "",
          weight: 0,
          enableHTTPS: true,
          httpTimeout: 100_000_000,
        },
        ...{ nodeCacheCapable: true, managedResources: [], ignorable: false },
      },
    ]);
  });

  it("keep the resources that they manage alone out of PodFitsResources", async () => {
    const managedResources = [{ name: "example.com/gpu", ignoredByScheduler: true }, { name: "example.com/fpga" }];
    const { policy } = await read({
      predicates: names("PodFitsResources"),
      extenders: [{ ...extender, managedResources }],
    });
    const fit = policy?.plugins.find(({ spec }) => spec.name === "NodeResourcesFit");
    expect(fit?.args).toMatchObject({ ignoredResources: ["example.com/gpu"] });
  });
});

describe.runIf(hasRealData)("Policy files that people have used", () => {
  const file = (start: string) => {
    const name = readdirSync(new URL("configs/", realDataFolder)).find((each) => each.startsWith(start));
    return readFileSync(new URL(`configs/${name}`, realDataFolder), "utf8");
  };

  it("are read as they are: gpushare's", async () => {
    const { extenders, seats } = await read(file("c01"));
    expect(extenders?.[0]).toMatchObject({ bindVerb: "bind", enableHTTPS: false, nodeCacheCapable: true });
    expect(seats).toHaveLength(10);
  });

  it("are found in a ConfigMap, and say line by line what nobody here judges: Stork's", async () => {
    const { faults } = await read(file("c10"));
    expect(faults?.[0]).toMatch(
      /^policy\.cfg policy\.cfg:5:\d+ predicates\[0\]\.name: "MaxAzureDiskVolumeCount" is no /,
    );
    expect(faults?.every((fault) => /predicates|priorities/.test(fault))).toBe(true);
  });
});
