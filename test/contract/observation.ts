import { describe, expect, it, vi } from "vitest";
import { args, JSON_BODY, NODES, nodeText, POD } from "./fixtures.ts";
import { AS_A, bearer, SECRETS } from "./secrets.ts";
import type { Start } from "./target.ts";
import { type Answer, type LogLine, type Witness, witness as watch } from "./witness.ts";

const headers = { ...AS_A, ...JSON_BODY };

/** What is told to whoever watches the function: headers, log, health. */
export function observation(witness: () => Witness, start: Start): void {
  const ask = (path: string, body = args()) => witness().ask(path, { headers, body });

  /** The log lines of a request, once they are there. */
  const linesOf = (answer: Answer): Promise<LogLine[]> =>
    vi.waitFor(() => {
      const lines = witness()
        .lines()
        .filter((each) => each["request"] === answer.headers.get("berth-request"));
      expect(lines.length).toBeGreaterThan(0);
      return lines;
    });

  it("shows on /healthz whether a scheduler has called, and what it called last (gpushare #166)", async () => {
    const fresh = watch(await start({ secrets: SECRETS }));
    const idle = await fresh.ask("/healthz");
    expect(idle.status).toBe(200);
    expect(idle.json).toMatchObject({ status: "ok", calls: 0, lastCall: null, prioritizeGaveZeros: 0 });
    await fresh.ask("/default/filter", { headers, body: args() });
    const { calls, lastCall } = (await fresh.ask("/healthz")).json;
    expect(calls).toBe(1);
    expect(lastCall).toEqual({ verb: "filter", at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) });
    expect((await fresh.ask("/healthz", { method: "HEAD" })).status).toBe(200);
    await fresh.target.stop();
  });

  it("answers the very first requests also when ten come at once", async () => {
    const fresh = watch(await start({ secrets: SECRETS }));
    const call = { headers, body: args() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => fresh.ask("/default/filter", call)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await fresh.target.stop();
  });

  it("says on every decision which policy decided", async () => {
    const { version } = (await witness().ask("/default", { headers: AS_A })).json;
    expect(version).toMatch(/^[0-9a-f]{12}$/);
    for (const verb of ["filter", "prioritize"]) {
      expect((await ask(`/default/${verb}`)).headers.get("berth-policy")).toBe(`default@${version}`);
    }
  });

  describe("the log", () => {
    it("has one line for a filter: caller, policy, pod and how many nodes each plugin refused", async () => {
      const answer = await ask("/default/filter");
      expect(await linesOf(answer)).toEqual([
        {
          time: expect.any(String),
          level: "info",
          message: "decision",
          request: answer.headers.get("berth-request"),
          caller: "cluster-a",
          policy: answer.headers.get("berth-policy"),
          verb: "filter",
          pod: "shop/web-0",
          uid: POD.metadata.uid,
          nodes: 5,
          refused: { NodeLabel: 1 },
          bytes: args().length,
          milliseconds: expect.any(Number),
        },
      ]);
    });

    it("has one line for a prioritize, with the best node", async () => {
      const [line, ...more] = await linesOf(await ask("/default/prioritize"));
      expect(line).toMatchObject({ message: "decision", verb: "prioritize", uid: POD.metadata.uid, best: "paid" });
      expect(more).toEqual([]);
    });

    it("calls no node the best that was refused", async () => {
      const [alone] = await linesOf(await ask("/default/prioritize", args({ nodes: [NODES.retiring] })));
      expect(alone).toMatchObject({ refused: { NodeLabel: 1 }, best: null });
    });

    it("stays short, whatever names and fields the request has", async () => {
      const long = "x".repeat(100_000);
      const huge = nodeText(long, { type: "small", allocatable: { cpu: long } });
      const [filter] = await linesOf(await ask("/default/filter", args({ nodes: [huge, huge] })));
      expect(filter).toMatchObject({ duplicateNodes: [long.slice(0, 253)], refused: { NodeCost: 1 } });
      const [prioritize] = await linesOf(await ask("/default/prioritize", args({ nodes: [nodeText(long)] })));
      expect(prioritize).toMatchObject({ best: long.slice(0, 253) });
      for (const line of [filter, prioritize]) expect(JSON.stringify(line).length).toBeLessThan(4_000);
    });

    it("names nodes that stood in the request twice", async () => {
      const [line] = await linesOf(await ask("/default/filter", args({ nodes: [NODES.small, NODES.small] })));
      expect(line).toMatchObject({ nodes: 1, duplicateNodes: ["small"] });
    });

    it("says why a request was refused or turned away", async () => {
      expect(await linesOf(await ask("/default/filter", "{}"))).toMatchObject([
        { level: "warn", message: "request refused", caller: "cluster-a", verb: "filter", error: "Pod is missing" },
      ]);
      const stranger = await witness().ask("/default/filter", { headers: bearer("a token that nobody has"), body: "" });
      expect(await linesOf(stranger)).toMatchObject([
        { level: "warn", message: "request turned away", status: 401, caller: null },
      ]);
    });
  });

  it("gives every request an id of its own and puts it on every answer", async () => {
    const answers = [
      await ask("/default/filter"),
      await ask("/default/filter", "{}"),
      await ask("/nowhere/filter"),
      await witness().ask("/default/filter"),
      await witness().ask("/default", { headers: AS_A }),
      await witness().ask("/healthz"),
    ];
    const ids = answers.map((answer) => answer.headers.get("berth-request"));
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("words the same refusal the same each time, or the pod would be retried in a hot loop", async () => {
    const pod = { ...POD, spec: { containers: [{ resources: { requests: { cpu: "x" } } }] } };
    for (const body of [args({ pod }), args({ names: ["n1"] }), args({ nodes: [NODES.retiring] })]) {
      expect((await ask("/default/filter", body)).text).toBe((await ask("/default/filter", body)).text);
    }
  });
}
