import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { berthYaml, factsJson, requestBody } from "../bench/scenario.ts";
import { usageOf } from "../bench/usage.ts";
import { startWorkerd, type Workerd } from "./workerd.ts";

const MB = 2 ** 20;
const HEAP_MB = 110;

/** The most nodes that kube-scheduler sends by default below 16,000 nodes. v1.37.2, numFeasibleNodesToFind. */
const SAMPLE = 812;

describe(`the function in workerd with a heap of ${HEAP_MB} MB`, () => {
  let folder: string;
  let workerd: Workerd;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-workerd-"));
    const policy = { config: berthYaml, facts: factsJson };
    workerd = await startWorkerd({ folder, policy, heapMb: HEAP_MB, bodyLimit: 100 * MB });
  });
  afterAll(async () => {
    await workerd?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** A connection for each request: a kept one may be closed while the next large body is made up. */
  async function ask(verb: string, body: Buffer): Promise<{ status: number | undefined; text: string }> {
    const headers = { "Content-Type": "application/json", "Content-Length": body.length };
    const question = request(`${workerd.url}/${verb}`, { method: "POST", agent: false, headers });
    question.end(body);
    const [answer] = (await once(question, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    return { status: answer.statusCode, text: String(Buffer.concat(chunks)) };
  }

  function nodesIn(verb: "filter" | "prioritize", text: string): number {
    const answer = JSON.parse(text);
    return verb === "filter" ? answer.Nodes.items.length : answer.length;
  }

  it.each(["prioritize", "filter"] as const)(
    `answers three requests of ${SAMPLE} nodes to %s at once, again and again, in less than 200 MB`,
    async (verb) => {
      const body = requestBody(verb, SAMPLE, 17_000);
      for (let round = 0; round < 4; round++) {
        for (const { status, text } of await Promise.all([ask(verb, body), ask(verb, body), ask(verb, body)])) {
          expect(status).toBe(200);
          expect(nodesIn(verb, text)).toBe(verb === "filter" ? (SAMPLE * 3) / 4 : SAMPLE);
        }
      }
      expect((await usageOf(workerd.pid)).peakBytes / MB).toBeLessThan(200);
    },
  );

  it.each(["prioritize", "filter"] as const)("answers a request of 5,000 nodes to %s", async (verb) => {
    const { status, text } = await ask(verb, requestBody(verb, 5_000, 17_000));
    expect(status).toBe(200);
    expect(nodesIn(verb, text)).toBe(verb === "filter" ? 3_750 : 5_000);
  });
});
