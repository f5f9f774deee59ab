import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Unreadable, type View } from "../src/policy/view.ts";
import { type Amounts, nodeAllocatable } from "../src/policy/views/allocatable.ts";
import { nodeName, podIdentity } from "../src/policy/views/identity.ts";
import { nodeAnnotations, nodeLabels, podAnnotations } from "../src/policy/views/labels.ts";
import { podNonZeroRequests, podRequests } from "../src/policy/views/pod-requests.ts";
import { taints, unschedulable } from "../src/policy/views/taints.ts";
import type { JsonObject } from "../src/protocol/json.ts";
import { hasRealData, realDataFolder, realObjects } from "./realdata.ts";

const nodes = realObjects("nodes");
const pods = realObjects("pods");

/** Reads a fact that must be there. */
function read<T>(view: View<T>, object: JsonObject | undefined): T {
  const fact = object && view.read?.(object, 0);
  if (fact === undefined || fact instanceof Unreadable) throw new Error(`${view.name}: ${fact}`);
  return fact;
}

const nodesOf = (file: string) => nodes.filter((node) => node.file.startsWith(file)).map(({ object }) => object);
const amountsOf = (file: string) => nodesOf(file).map((node) => read(nodeAllocatable, node));
const podsOf = (file: string) => pods.filter((pod) => pod.file.startsWith(file)).map(({ object }) => object);
const requestsOf = (file: string) => podsOf(file).map((pod) => read(podRequests, pod));

describe.runIf(hasRealData)("a node of a real cluster", () => {
  test("is found in every file, single, in lists and in several documents", () => {
    const counts = Object.groupBy(nodes, ({ file }) => file.slice(0, 3));
    const found = Object.entries(counts).map(([file, list]) => `${file} ${list?.length}`);
    expect(found).toEqual(["n02 2", "n03 1", "n04 3", "n06 6", "n09 1", "n14 1", "n15 15"]);
    for (const { object } of nodes) expect(read(nodeName, object)).not.toBe("");
  });

  test("of EKS on arm64 has huge pages of two sizes and a taint for batch work", () => {
    const [first] = nodesOf("n02");
    expect(amountsOf("n02")).toEqual([
      expect.objectContaining({ cpu: 7910n, memory: 31_874_891_776n, "hugepages-64Ki": 0n, "hugepages-32Mi": 0n }),
      expect.objectContaining({ cpu: 7910n, memory: 31_874_891_776n }),
    ]);
    expect(read(taints, first)).toEqual([{ key: "type", value: "batch", effect: "NoSchedule" }]);
    expect(read(nodeLabels(["kubernetes.io/arch"]), first)).toEqual({ "kubernetes.io/arch": "arm64" });
  });

  test("of GKE offers less than it has, and keeps an annotation with an empty value", () => {
    expect(amountsOf("n03")).toMatchObject([
      { cpu: 940n, memory: 2_949_140_480n, "ephemeral-storage": 17_060_071_478n },
    ]);
    expect(read(nodeAnnotations(["node.gke.io/last-applied-node-taints"]), nodesOf("n03")[0])).toEqual({
      "node.gke.io/last-applied-node-taints": "",
    });
  });

  test("of AKS differs from its twins by one page of memory", () => {
    expect(amountsOf("n04").map(({ cpu, memory }) => [cpu, memory])).toEqual([
      [1900n, 5_629_509_632n],
      [1900n, 5_629_509_632n],
      [1900n, 5_629_505_536n],
    ]);
  });

  test("of OpenShift takes 250 pods, and every second one is a tainted master", () => {
    expect(amountsOf("n06").map(({ cpu, memory, pods }) => [cpu, memory, pods])).toEqual(
      Array.from({ length: 6 }, () => [3500n, 15_634_849_792n, 250n]),
    );
    const master = { key: "node-role.kubernetes.io/master", value: "", effect: "NoSchedule" };
    expect(nodesOf("n06").map((node) => read(taints, node))).toEqual([[master], [], [master], [], [master], []]);
  });

  test("with two GPUs and 52 labels is read whole or by a few labels", () => {
    const [node] = nodesOf("n09");
    expect(amountsOf("n09")).toMatchObject([{ cpu: 32_000n, memory: 126_525_972_480n, "nvidia.com/gpu": 2n }]);
    expect(Object.keys(read(nodeLabels(), node))).toHaveLength(52);
    expect(read(nodeLabels(["nvidia.com/gpu.product"]), node)).toEqual({ "nvidia.com/gpu.product": "Tesla-T4" });
  });

  test("may give its cpu as a YAML number, and GPU memory in Mi", () => {
    expect(amountsOf("n14")).toEqual([
      {
        cpu: 64_000n,
        memory: 256_000n * 1024n ** 2n,
        pods: 110n,
        "alibabacloud.com/gpu-count": 2n,
        "alibabacloud.com/gpu-mem": 34_141_634_560n,
      },
    ]);
  });

  test("of the trace of 1,213 nodes comes in 15 different shapes", () => {
    const shapes = nodesOf("n15").map((node) =>
      JSON.stringify([
        read(nodeLabels(["alibabacloud.com/gpu-card-model"]), node),
        Object.entries(read(nodeAllocatable, node)).map(([resource, amount]) => `${resource} ${amount}`),
      ]),
    );
    expect(new Set(shapes).size).toBe(15);
    expect(amountsOf("n15")).toContainEqual(expect.objectContaining({ cpu: 104_000n, pods: 1001n }));
  });

  test("is open for pods in every file", () => {
    expect(nodes.map(({ object }) => read(unschedulable, object))).not.toContain(true);
  });
});

describe.runIf(hasRealData)("a pod of a real cluster", () => {
  test("is found in every file, single and in lists", () => {
    const counts = Object.groupBy(pods, ({ file }) => file.slice(0, 3));
    const found = Object.entries(counts).map(([file, list]) => `${file} ${list?.length}`);
    expect(found).toEqual(["p01 4", "p04 1", "p06 1", "p07 1", "p08 1", "p10 1", "p12 1"]);
    for (const { object } of pods) expect(read(podIdentity, object).name).not.toBe("");
  });

  test("of Kubernetes 1.35 takes what it asks for as a whole, and 5M is decimal", () => {
    expect(requestsOf("p01")).toEqual([{}, { cpu: 5n, memory: 5_000_000n }, {}, { cpu: 50n, memory: 20_971_520n }]);
  });

  test("that shares a GPU by annotation asks for no GPU", () => {
    expect(requestsOf("p04")).toEqual([{ cpu: 100n, memory: 100_000_000n }]);
    expect(Object.keys(read(podAnnotations, podsOf("p04")[0]))).toContain("gpu-fraction");
  });

  test.each<[string, Amounts]>([
    ["p06", { cpu: 3000n, memory: 5_368_709_120n, "nvidia.com/gpu": 5n }],
    ["p07", { cpu: 76n, memory: 1_262_485_504n }],
    ["p08", { cpu: 350n, memory: 901_775_360n }],
    ["p10", { cpu: 4000n, memory: 42_949_672_960n, "nvidia.com/gpu": 1n, "github.com/fuse": 1n }],
    ["p12", { cpu: 100n, memory: 104_857_600n }],
  ])("takes what Kubernetes computes for it: %s", (file, amounts) => {
    expect(requestsOf(file)).toEqual([amounts]);
  });

  test("counts with defaults for scoring where containers ask for nothing", () => {
    expect(read(podNonZeroRequests, podsOf("p01")[0])).toEqual({ cpu: 100n, memory: 209_715_200n });
  });

  test("lacks on an empty node exactly the resources that kube-scheduler says it lacks", () => {
    const [, ...rows] = readFileSync(new URL("MATRIX.tsv", realDataFolder), "utf8").trim().split("\n");
    let compared = 0;
    for (const row of rows) {
      const [podFile = "", pod, nodeFile = "", node, , reasons = ""] = row.split("\t");
      const asked = podsOf(podFile).find((each) => read(podIdentity, each).name === pod);
      const offered = nodesOf(nodeFile).find((each) => read(nodeName, each) === node);
      if (!asked || !offered) continue;
      const lacking = lacks(read(podRequests, asked), read(nodeAllocatable, offered));
      expect(lacking, row).toEqual(reasons.match(/Insufficient [^;]*\)/g)?.sort() ?? []);
      compared++;
    }
    expect(compared).toBeGreaterThan(250);
  });
});

function lacks(requests: Amounts, allocatable: Amounts): string[] {
  return Object.entries(requests)
    .filter(([resource, amount]) => amount > (allocatable[resource] ?? 0n))
    .map(([resource, amount]) => `Insufficient ${resource}(req ${amount}, free ${allocatable[resource] ?? 0n})`)
    .sort();
}
