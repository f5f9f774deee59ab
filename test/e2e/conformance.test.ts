import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GoAnswer, goReads } from "../controlplane/answers.ts";
import { createAuthority } from "../controlplane/authority.ts";
import { apiServerVersion, schedulerVersions } from "../controlplane/programs.ts";
import { type RunningFunction, startWorker } from "./function.ts";
import { gated } from "./gate.ts";

const SECRET = "e2e-conformance-path-secret";
const ARCH = "kubernetes.io/arch";
const ZONE = "topology.kubernetes.io/zone";
const FORBIDDEN = "node(s) had a label that the policy forbids";
const policy = {
  configuration: {
    profiles: [
      {
        name: "label",
        plugins: [
          {
            name: "NodeLabel",
            args: { forbid: { [ARCH]: ["arm64"] }, prefer: { [ZONE]: ["eu-central-1a", "eu-central-1b"] } },
          },
        ],
      },
      { name: "names", plugins: [{ name: "Random" }] },
      { name: "cost", plugins: [{ name: "NodeCost" }] },
    ],
    callers: [{ name: "cluster-a", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["label", "names", "cost"] }],
  },
  secrets: { CLUSTER_A_PATH: SECRET },
};

type Verb = "filter" | "prioritize";
type SentNode = { readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> } };
type Sent = {
  readonly Nodes: { readonly items: readonly SentNode[] | null } | null;
  readonly NodeNames: string[] | null;
};

const nothing = { failedNodes: {}, failedAndUnresolvableNodes: {}, error: "" };

await gated("the answers of the function, read by Go", [{ name: "answers", version: apiServerVersion }], () => {
  let folder: string;
  let worker: RunningFunction;
  let agent: Agent;
  const cleanups: (() => Promise<void> | void)[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-conformance-"));
    const authority = await createAuthority();
    const onStop = (cleanup: () => Promise<void> | void) => cleanups.push(cleanup);
    worker = await startWorker({ authority, caPem: authority.caPem, folder, onStop }, policy);
    agent = new Agent({ keepAlive: true, ca: authority.caPem });
  }, 120_000);
  afterAll(async () => {
    agent?.destroy();
    for (const cleanup of cleanups) await cleanup();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Asks the function and tells what kube-scheduler's types make of its answer. */
  async function ask(profile: string, verb: Verb, request: string): Promise<GoAnswer> {
    const url = `${worker.url}/${SECRET}/${profile}/${verb}`;
    const sent = httpsRequest(url, { method: "POST", agent, headers: { "Content-Type": "application/json" } });
    sent.end(request);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    const body = await text(answer);
    expect([answer.statusCode, body]).toEqual([200, expect.any(String)]);
    const [understood] = await goReads([{ verb, body, request }]);
    if (understood === undefined) throw new Error("Go read nothing");
    return understood;
  }

  describe.each(schedulerVersions)("to requests recorded with kube-scheduler %s", (version) => {
    const recorded = (verb: Verb, form: "nodes" | "names"): string =>
      readFileSync(join(import.meta.dirname, "../conformance", `v${version}`, `${verb}.${form}.json`), "utf8");

    it("keep the nodes that fit as they were sent and give the others their reason", async () => {
      const request = recorded("filter", "nodes");
      const { kept, refused } = judged(JSON.parse(request));
      expect(Math.min(kept.length, refused.length)).toBeGreaterThan(0);
      expect(await ask("label", "filter", request)).toEqual({
        filter: {
          ...nothing,
          nodes: kept,
          changedNodes: [],
          nodeNames: null,
          failedAndUnresolvableNodes: Object.fromEntries(refused.map((name) => [name, FORBIDDEN])),
        },
      });
    });

    it("keep names where names were sent", async () => {
      const request = recorded("filter", "names");
      const nodeNames = (JSON.parse(request) as Sent).NodeNames;
      expect(await ask("names", "filter", request)).toEqual({
        filter: { ...nothing, nodes: null, changedNodes: null, nodeNames },
      });
    });

    it("score every node that was sent, whole or by name", async () => {
      const whole = recorded("prioritize", "nodes");
      expect(await ask("label", "prioritize", whole)).toEqual({ scores: scored(JSON.parse(whole)) });
      const names = recorded("prioritize", "names");
      const { scores = [] } = await ask("names", "prioritize", names);
      expect(scores.map(({ host }) => host)).toEqual((JSON.parse(names) as Sent).NodeNames);
      expect(scores.filter(({ score }) => !Number.isInteger(score) || score < 0 || score > 10)).toEqual([]);
    });

    it("say in Error why names are not enough, and give zeros where there is no Error", async () => {
      const { filter } = await ask("label", "filter", recorded("filter", "names"));
      expect(filter?.error).toMatch(/^profile label reads metadata\.labels\[.*nodeCacheCapable: false/);
      expect(filter).toMatchObject({ nodes: null, nodeNames: null, failedNodes: {}, failedAndUnresolvableNodes: {} });
      const names = recorded("prioritize", "names");
      const zeros = (JSON.parse(names) as Sent).NodeNames?.map((host) => ({ host, score: 0 }));
      expect(await ask("label", "prioritize", names)).toEqual({ scores: zeros });
    });
  });

  const odd = ["__proto__", "constructor", "a".repeat(253), "<&>", 'q"uote', "back\\slash", "\u0001\u2028", "nöde-😀"];
  const oddNodes = odd.map((name, index) => ({
    metadata: { name, labels: { [ARCH]: index % 2 === 0 ? "amd64" : "arm64", [ZONE]: "eu-central-1b" } },
  }));
  const pod = { metadata: { name: "pod", namespace: "default", uid: "1" }, spec: { containers: [] } };
  const args = (parts: object): string => JSON.stringify({ Pod: pod, Nodes: null, NodeNames: null, ...parts });

  it("have the names of nodes as they were sent, however odd", async () => {
    const request = args({ Nodes: { metadata: {}, items: oddNodes } });
    const { kept, refused } = judged(JSON.parse(request));
    const answer = await ask("label", "filter", request);
    expect(answer.filter).toMatchObject({ nodes: kept, changedNodes: [], error: "" });
    expect(Object.entries(answer.filter?.failedAndUnresolvableNodes ?? {})).toEqual(
      expect.arrayContaining(refused.map((name) => [name, FORBIDDEN])),
    );
    expect(await ask("label", "prioritize", request)).toEqual({ scores: scored(JSON.parse(request)) });
    const names = await ask("names", "filter", args({ NodeNames: odd }));
    expect(names.filter).toMatchObject({ nodes: null, nodeNames: odd, error: "" });
  });

  it.each([
    [
      "an empty list of nodes",
      { Nodes: { metadata: {}, items: [] } },
      { nodes: [], changedNodes: [], nodeNames: null },
    ],
    [
      "a list of nodes that is null",
      { Nodes: { metadata: {}, items: null } },
      { nodes: [], changedNodes: [], nodeNames: null },
    ],
    ["an empty list of names", { NodeNames: [] }, { nodes: null, changedNodes: null, nodeNames: [] }],
  ])("are empty lists for %s", async (_, parts, lists) => {
    expect(await ask("names", "filter", args(parts))).toEqual({ filter: { ...nothing, ...lists } });
    expect(await ask("names", "prioritize", args(parts))).toEqual({ scores: [] });
  });

  it("carry an error as it was meant, whatever the pod had in it", async () => {
    const cpu = '1 <CPU> "é😀\u2028\\';
    const faulty = { ...pod, spec: { containers: [{ name: "c", resources: { requests: { cpu } } }] } };
    const request = args({ Pod: faulty, Nodes: { items: oddNodes.slice(0, 1) } });
    const { filter } = await ask("cost", "filter", request);
    expect(filter?.error).toMatch(/^plugin NodeCost: pod field spec\.containers\[0\]\.resources\.requests\.cpu: /);
    expect(filter).toMatchObject({ nodes: null, nodeNames: null, failedNodes: {}, failedAndUnresolvableNodes: {} });
  });
});

/** What profile `label` says about whole nodes. */
function judged({ Nodes }: Sent): { readonly kept: string[]; readonly refused: string[] } {
  const names = (nodes: readonly SentNode[]): string[] => nodes.map(({ metadata }) => metadata.name);
  const items = Nodes?.items ?? [];
  const forbidden = ({ metadata }: SentNode): boolean => metadata.labels[ARCH] === "arm64";
  return { kept: names(items.filter((node) => !forbidden(node))), refused: names(items.filter(forbidden)) };
}

/** 10 for the first preferred zone, 5 for the second, 0 for others and for nodes that are refused. */
function scored(sent: Sent): { readonly host: string; readonly score: number }[] {
  const { refused } = judged(sent);
  const byZone: Readonly<Record<string, number>> = { "eu-central-1a": 10, "eu-central-1b": 5 };
  return (sent.Nodes?.items ?? []).map(({ metadata: { name, labels } }) => ({
    host: name,
    score: refused.includes(name) ? 0 : (byZone[labels[ZONE] ?? ""] ?? 0),
  }));
}
