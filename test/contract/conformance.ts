/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, it, vi } from "vitest";
import { itemsText } from "./fixtures.ts";
import { AS_A } from "./secrets.ts";
import type { Witness } from "./witness.ts";

/** What kube-schedulers of several versions have sent: `<version>/<verb>.<form>.json` and the request around it. */
const recorded = import.meta.glob<string>("../conformance/*/*.json", { query: "?raw", import: "default", eager: true });
const requests = Object.keys(recorded).filter((file) => file.endsWith(".request.json"));

/** Headers that belong to the recorded connection. */
const HOP = new Set(["host", "content-length", "connection"]);

interface Recording {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Replays every recorded request. */
export function conformance(witness: () => Witness): void {
  describe("a request that a kube-scheduler has sent", () => {
    it("is there to be replayed, of four versions, each verb in each form", () => {
      const forms = requests.map((file) => file.replace(/^.*\/v[\d.]+\/|\.request\.json$/g, ""));
      const all = ["filter.names", "filter.nodes", "prioritize.names", "prioritize.nodes"];
      expect([...forms].sort()).toEqual(all.flatMap((form) => Array(requests.length / 4).fill(form)));
      expect(requests.length).toBeGreaterThanOrEqual(16);
    });

    it.each(requests)("is answered: %s", async (file) => {
      const { method, path, headers } = JSON.parse(recorded[file] ?? "") as Recording;
      const body = recorded[file.replace(".request.json", ".json")] ?? "";
      const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.has(name)));
      const [verb, form] = file.split("/").at(-1)?.split(".") ?? [];
      expect(path.endsWith(`/${verb}`)).toBe(true);
      const asked = form === "names" ? `/names-only/${verb}` : `/default/${verb}`;
      const answer = await witness().ask(asked, { method, headers: { ...sent, ...AS_A }, body });
      expect(answer.status).toBe(200);
      const question = JSON.parse(body);
      const names: string[] =
        question.NodeNames ?? question.Nodes.items.map((node: { metadata: { name: string } }) => node.metadata.name);
      expect(names.length).toBeGreaterThan(1);
      if (verb === "prioritize") expectScores(answer.json, names);
      else expectSubset(answer, body, names, form === "nodes");
      await vi.waitFor(() => {
        const request = answer.headers.get("berth-request");
        const line = witness()
          .lines()
          .find((each) => each["request"] === request);
        const { name, namespace, uid } = question.Pod.metadata;
        expect(line).toMatchObject({ verb, pod: `${namespace}/${name}`, uid, nodes: names.length });
      });
    });
  });
}

function expectScores(scores: readonly { Host: string; Score: number }[], names: readonly string[]): void {
  expect(scores.map(({ Host }) => Host)).toEqual(names);
  for (const { Score } of scores) expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).toContain(Score);
}

/** The nodes that fit are the request's own, and those that do not have a reason. */
function expectSubset(
  answer: Awaited<ReturnType<Witness["ask"]>>,
  body: string,
  names: readonly string[],
  nodes: boolean,
) {
  const { Nodes, NodeNames, FailedNodes, FailedAndUnresolvableNodes, Error: error } = answer.json;
  expect([error, FailedNodes]).toEqual(["", {}]);
  const kept: string[] = NodeNames ?? Nodes.items.map((node: { metadata: { name: string } }) => node.metadata.name);
  expect([...kept, ...Object.keys(FailedAndUnresolvableNodes)].sort()).toEqual([...names].sort());
  if (nodes) expect(body).toContain(itemsText(answer.text));
  else expect(NodeNames).toEqual(names);
}
