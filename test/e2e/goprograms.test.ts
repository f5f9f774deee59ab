import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GoAnswer, goReads } from "../controlplane/answers.ts";
import { createAuthority } from "../controlplane/authority.ts";
import { startGoExtender } from "../controlplane/goextender.ts";
import { nodeClasses } from "../controlplane/instances.ts";
import { buildNode } from "../controlplane/nodes.ts";
import { buildPod } from "../controlplane/pods.ts";
import type { Program } from "../controlplane/programs.ts";
import { openTransport } from "../controlplane/transport.ts";
import { gated } from "./gate.ts";

const answers: Program = { name: "answers", version: "1.37.2" };
const extenders: Program[] = [
  { name: "goextender", version: "1.37.2" },
  { name: "goextender-jsonv2", version: "1.37.2" },
];

await gated("the Go programs beside the control plane", [answers, ...extenders], () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-goprograms-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("tell what kube-scheduler's types make of an answer", async () => {
    const node = { metadata: { name: "a", labels: { zone: "1" } }, status: { capacity: { cpu: "4" } } };
    const changed = { metadata: { name: "b" }, status: {} };
    const request = JSON.stringify({ Pod: { metadata: {} }, Nodes: { items: [node, { ...node, ...changed }] } });
    const filter = { Nodes: { metadata: {}, items: [node, { metadata: { name: "b", labels: { zone: "2" } } }] } };
    const understood = await goReads([
      { verb: "filter", body: JSON.stringify(filter), request },
      { verb: "filter", body: '{"nodenames":["a"],"FailedAndUnresolvableNodes":{"b":"no"},"Error":""}' },
      { verb: "prioritize", body: '[{"Host":"a","Score":10},{"host":"b","score":0}]' },
      { verb: "prioritize", body: '[{"Host":"a","Score":7.5}]' },
      { verb: "filter", body: '{"FailedNodes":["a"]}' },
    ]);
    const none = { failedNodes: null, failedAndUnresolvableNodes: null, error: "" };
    expect(understood).toEqual([
      { filter: { ...none, nodes: ["a", "b"], changedNodes: ["b"], nodeNames: null } },
      {
        filter: { ...none, nodes: null, changedNodes: null, nodeNames: ["a"], failedAndUnresolvableNodes: { b: "no" } },
      },
      {
        scores: [
          { host: "a", score: 10 },
          { host: "b", score: 0 },
        ],
      },
      { decodeError: expect.stringContaining("cannot unmarshal number 7.5") },
      { decodeError: expect.stringContaining("cannot unmarshal array") },
    ] satisfies GoAnswer[]);
  });

  describe.each(["v1", "v2"] as const)("the Go extender on encoding/json %s", (json) => {
    it("keeps nodes by label, prefers the cheaper one, and tells what it took", async () => {
      const zone = "topology.kubernetes.io/zone";
      const type = "node.kubernetes.io/instance-type";
      const authority = await createAuthority();
      const tls = { ...(await authority.issue({ name: "extender" })), caPem: authority.caPem };
      const policy = {
        require: { [zone]: ["eu-central-1a"] },
        prices: [
          { match: { [type]: "cheap" }, perHour: 1 },
          { match: { [type]: "dear" }, perHour: 2 },
        ],
      };
      const allocatable = { cpu: "4", memory: "16Gi" };
      const here = nodeClasses.find((of) => of.zone === "eu-central-1a");
      const elsewhere = nodeClasses.find((of) => of.zone === "eu-central-1b");
      if (here === undefined || elsewhere === undefined) throw new Error("no class in those zones");
      const nodes = [
        buildNode({ name: "dear", class: here, labels: { [type]: "dear" }, allocatable }),
        buildNode({ name: "cheap", class: here, labels: { [type]: "cheap" }, allocatable }),
        buildNode({ name: "elsewhere", class: elsewhere, labels: { [type]: "cheap" }, allocatable }),
      ];
      const body = { Pod: buildPod({ name: "pod", cpu: "1" }), Nodes: { metadata: {}, items: nodes }, NodeNames: null };
      const extender = await startGoExtender({ policy, json, folder, tls });
      const transport = openTransport({ url: extender.url, caPem: authority.caPem });
      try {
        const filtered = await transport.send({ method: "POST", path: "/filter", body });
        const scored = await transport.send({ method: "POST", path: "/prioritize", body });
        expect(JSON.parse(scored.text)).toEqual([
          { Host: "dear", Score: 0 },
          { Host: "cheap", Score: 10 },
          { Host: "elsewhere", Score: 10 },
        ]);
        const [understood] = await goReads([{ verb: "filter", body: filtered.text, request: JSON.stringify(body) }]);
        expect(understood?.filter).toMatchObject({ nodes: ["dear", "cheap"], changedNodes: [], error: "" });
        expect(Object.keys(understood?.filter?.failedAndUnresolvableNodes ?? {})).toEqual(["elsewhere"]);
        const usage = await extender.usage();
        expect(usage.cpuSeconds).toBeGreaterThan(0);
        expect(usage.maxRssBytes).toBeGreaterThan(5_000_000);
      } finally {
        transport.close();
        await extender.stop();
      }
    });
  });

  it("are built once by two processes that need the same one, and again when a source has changed", async () => {
    const goCache = (await promisify(execFile)("go", ["env", "GOCACHE"])).stdout.trim();
    const script = `
      import { requirePrograms } from ${JSON.stringify(join(import.meta.dirname, "../controlplane/programs.ts"))};
      await requirePrograms([${JSON.stringify(answers)}]);
    `;
    const ensure = async (): Promise<string> => {
      const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
        env: { ...process.env, XDG_CACHE_HOME: folder, GOCACHE: goCache },
      });
      const [said] = await Promise.all([text(child.stderr), once(child, "close")]);
      expect([child.exitCode, said]).toEqual([0, expect.anything()]);
      return said;
    };
    const builds = (said: string[]): number => said.join("").split("building answers v1.37.2").length - 1;

    expect(builds(await Promise.all([ensure(), ensure()]))).toBe(1);
    expect(builds([await ensure()])).toBe(0);
    const stamp = join(folder, "berth/controlplane/v1.37.2/answers.stamp");
    const current = readFileSync(stamp, "utf8");
    writeFileSync(stamp, "built from other sources");
    expect(builds([await ensure()])).toBe(1);
    expect(readFileSync(stamp, "utf8")).toBe(current);
  });
});
