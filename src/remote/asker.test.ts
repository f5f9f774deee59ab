import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { createAsker } from "./asker.ts";
import type { FunctionAnswer, FunctionRequest } from "./client.ts";
import type { Asked } from "./question.ts";

const ASKED: Asked = {
  profile: "default",
  version: "one",
  plugins: ["Rack", "Shelf"],
  columns: [{ plugin: "Shelf", weight: 2, scale: "max" }],
};

const NODES = [{ fact: 1 }, { fact: 2 }, { fact: 3 }];

const GOOD = {
  protocol: 1,
  profile: "default",
  version: "one",
  columns: ASKED.columns,
  rows: [{ scores: [7] }, { refusal: { plugin: "Rack", reason: "no", unresolvable: true } }, { scores: [null] }],
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What the function answers to a question that it cannot judge. */
function refusal(status: number, error: string, policy = "default@one"): FunctionAnswer {
  const body = Buffer.from(JSON.stringify({ error }));
  return { status, headers: { "berth-policy": policy }, body, bytes: body.length };
}

/** Answers by the number of nodes, and a neutral question without columns. */
function goodFor(request: FunctionRequest) {
  const { nodes, plugins } = JSON.parse(String(request.body));
  return { ...GOOD, columns: plugins.length === 0 ? [] : GOOD.columns, rows: GOOD.rows.slice(0, nodes.length) };
}

type Answers = (request: FunctionRequest, nth: number) => unknown;

function start(answers: Answers) {
  const requests: FunctionRequest[] = [];
  const told = { outcomes: [] as string[], warnings: [] as unknown[], otherVersions: 0, back: 0 };
  let spent = 0;
  const asker = createAsker({
    client: {
      async ask(request): Promise<FunctionAnswer> {
        requests.push(request);
        const answer = await answers(request, requests.length);
        if (answer instanceof Error) throw answer;
        if (typeof answer === "object" && answer !== null && "status" in answer) return answer as FunctionAnswer;
        const [status, value] = typeof answer === "number" ? [answer, { error: "no" }] : [200, answer];
        const body = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
        return { status, headers: {}, body, bytes: body.length };
      },
    },
    deadline: 1_000,
    otherVersion: () => void told.otherVersions++,
    back: () => void told.back++,
    metrics: { question: (outcome) => void told.outcomes.push(outcome) },
    warn: (_, fields) => void told.warnings.push(fields["problem"]),
    elapsed: () => performance.now() + spent,
    probeEvery: 500,
  });
  return {
    asker,
    requests,
    told,
    spend: (ms: number) => {
      spent += ms;
    },
    ask: (nodes: readonly JsonObject[] = NODES) => asker.ask(ASKED, { pod: "fact" }, nodes),
  };
}

describe("A function that is asked for rows", () => {
  test("is asked for the plugins by name and answers a row for each node", async () => {
    const { ask, requests, told } = start(() => GOOD);
    expect(await ask()).toEqual([{ scores: [7] }, GOOD.rows[1], { scores: [undefined] }]);
    expect(requests[0]?.path).toBe("/default/evaluate");
    expect(JSON.parse(String(requests[0]?.body))).toEqual({
      protocol: 1,
      plugins: ASKED.plugins,
      pod: { pod: "fact" },
      nodes: NODES,
    });
    expect(told).toEqual({ outcomes: ["answered"], warnings: [], otherVersions: 0, back: 0 });
  });

  test.each<[string, unknown, string]>([
    ["text that is no JSON", "<html>", "it is not JSON"],
    ["an older protocol", { ...GOOD, protocol: 0 }, "its protocol is not 1"],
    ["another profile", { ...GOOD, profile: "other" }, "it is about another profile"],
    ["a row too few", { ...GOOD, rows: GOOD.rows.slice(1) }, "it has another number of rows than nodes"],
    ["other columns", { ...GOOD, columns: [] }, "it has other columns than the policy"],
    [
      "a weight of its own",
      { ...GOOD, columns: [{ ...ASKED.columns[0], weight: 3 }] },
      "it has other columns than the policy",
    ],
    ["500", 500, "it answered 500 instead of 200"],
    ["404", 404, "it answered 404 instead of 200"],
    ["no connection", new Error("nobody listens"), "nobody listens"],
  ])("that answers with %s gives nothing, and its log says what was wrong", async (_, answer, problem) => {
    const { ask, told } = start(() => answer);
    expect(await ask()).toBeUndefined();
    expect(told.warnings).toEqual([problem]);
  });

  test.each<[string, unknown]>([
    ["a score that is text", { scores: ["7"] }],
    ["a score too many", { scores: [1, 2] }],
    [
      "the refusal of a plugin that was not asked",
      { refusal: { plugin: "NodeLabel", reason: "no", unresolvable: true } },
    ],
  ])("that answers a row with %s has not judged that pod, and is asked about others", async (_, row) => {
    const { ask, asker, told } = start(() => ({ ...GOOD, rows: [row, ...GOOD.rows.slice(1)] }));
    for (let time = 0; time < 3; time++) expect(await ask()).toEqual({ refused: "one of its rows is none" });
    expect([asker.isAway(), told.warnings[0]]).toEqual([false, "one of its rows is none"]);
  });

  test.each([
    [400, "nodes[0] lacks the fact rack"],
    [413, "the body unpacks to more bytes than the limit"],
    [500, "plugin Rack failed: no such team"],
  ])(
    "that answers %i as the policy asked about is not away: it says that it cannot judge this pod",
    async (status, error) => {
      const { ask, asker, told } = start(() => refusal(status, error));
      for (let time = 0; time < 5; time++) expect(await ask()).toEqual({ refused: error });
      expect([asker.isAway(), told.back, new Set(told.outcomes)]).toEqual([false, 0, new Set(["refused"])]);
    },
  );

  test("that refuses as another version of the policy is asked again, and the newer policy is asked for", async () => {
    const { ask, asker, requests, told } = start(() => refusal(400, "Rack is not a plugin", "default@two"));
    expect(await ask()).toBeUndefined();
    expect([requests.length, asker.isAway(), told.otherVersions]).toEqual([4, false, 1]);
  });

  test("that was away is found to be back whatever it thinks of the pods that were asked about", async () => {
    let away = true;
    const { ask, asker, told } = start((request) => {
      if (away) return 503;
      return JSON.parse(String(request.body)).plugins.length > 0
        ? refusal(500, "plugin Rack failed")
        : goodFor(request);
    });
    await ask();
    await ask();
    expect(asker.isAway()).toBe(true);
    away = false;
    await vi.advanceTimersByTimeAsync(500);
    expect([asker.isAway(), told.back]).toEqual([false, 1]);
  });

  test("is given what is left of the deadline when it has to be sent a question once more", async () => {
    const many = Array.from({ length: 200 }, () => ({ fact: "the same for all nodes" }));
    const { ask, requests, spend } = start(() => {
      spend(300);
      return refusal(400, "the body is not JSON");
    });
    await ask(many);
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([1_000, 700]);
  });

  test("that answers too late for a question that had little time left is not taken for away", async () => {
    const { asker } = start(() => new Error("too late"));
    const late = () => asker.ask(ASKED, {}, NODES, asker.elapsed() + 100);
    expect([await late(), await late(), await late(), asker.isAway()]).toEqual([
      undefined,
      undefined,
      undefined,
      false,
    ]);
    expect(await asker.ask(ASKED, {}, NODES, asker.elapsed())).toBeUndefined();
  });

  test("that is away is not asked any more after two failures, is probed with a question about nothing, and is used again once it answers", async () => {
    let good = false;
    const { ask, asker, requests, told } = start((request) => (good ? goodFor(request) : 503));
    expect([await ask(), asker.isAway()]).toEqual([undefined, false]);
    expect([await ask(), asker.isAway()]).toEqual([undefined, true]);
    expect(await ask()).toBeUndefined();
    expect(requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_100);
    const neutral = { protocol: 1, plugins: [], pod: {}, nodes: [] };
    expect(requests.slice(2).map(({ body }) => JSON.parse(String(body)))).toEqual([neutral, neutral]);
    expect([asker.isAway(), told.back]).toEqual([true, 0]);
    good = true;
    await vi.advanceTimersByTimeAsync(500);
    expect([asker.isAway(), told.back]).toEqual([false, 1]);
    expect(await ask()).toHaveLength(3);
    asker.stop();
  });

  test("that failed once only is found to be back without being asked, so that whoever waits is woken", async () => {
    const { ask, told } = start((_request, nth) => (nth === 1 ? 500 : { ...GOOD, rows: [] }));
    await ask();
    expect(told.back).toBe(0);
    await vi.advanceTimersByTimeAsync(500);
    expect(told.back).toBe(1);
  });

  test("that answers by two versions by turns is asked again at once, and only rows of the right one count", async () => {
    const { ask, told } = start((_, nth) => (nth % 2 === 1 ? { ...GOOD, version: "two" } : GOOD));
    expect(await ask()).toHaveLength(3);
    expect(told.outcomes).toEqual(["other_version", "answered"]);
    expect(told.otherVersions).toBe(0);
  });

  test("that answers by another version only is not away, and the newer policy is asked for", async () => {
    const { ask, asker, told } = start(() => ({ ...GOOD, version: "two" }));
    await ask();
    await ask();
    await ask();
    expect([asker.isAway(), told.otherVersions]).toEqual([false, 3]);
  });

  test("is sent large questions packed, and plain ones once it has shown that it cannot unpack them", async () => {
    const many = Array.from({ length: 200 }, () => ({ fact: "the same for all nodes" }));
    const packed = (request: FunctionRequest) => request.headers?.["Content-Encoding"] === "gzip";
    const rows = many.map(() => ({ scores: [1] }));
    const { ask, requests } = start((request) => (packed(request) ? 400 : { ...GOOD, rows }));
    expect(await ask(many)).toHaveLength(200);
    expect(await ask(many)).toHaveLength(200);
    expect(requests.map(packed)).toEqual([true, false, false]);
    expect(JSON.parse(gunzipSync(requests[0]?.body as Uint8Array).toString()).nodes).toEqual(many);
  });

  test("that refuses a question packed and plain alike is sent the next one packed", async () => {
    const many = Array.from({ length: 200 }, () => ({ fact: "the same for all nodes" }));
    const { ask, requests } = start(() => refusal(400, "pod lacks the fact labels"));
    expect(await ask(many)).toEqual({ refused: "pod lacks the fact labels" });
    await ask(many);
    expect(requests.map(({ headers }) => headers?.["Content-Encoding"])).toEqual([
      "gzip",
      undefined,
      "gzip",
      undefined,
    ]);
  });
});
