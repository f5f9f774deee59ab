import { describe, expect, test } from "vitest";
import { createFunction } from "../../src/extender/function.ts";
import { decideByFacts } from "../../src/extender/local.ts";
import { fleetLookup, objectLookup } from "../../src/policy/lookup.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { createAsker } from "../../src/remote/asker.ts";
import type { FunctionRequest } from "../../src/remote/client.ts";
import { FACTS, farOn, functionPolicy, nodeOf, podOf, rack, relayPolicy } from "./far-fixture.ts";

const NODES = [
  nodeOf("a", { pool: "a", team: "blue", rack: "1" }),
  nodeOf("b", { pool: "b", team: "blue", rack: "2" }),
];

const BROKEN = nodeOf("c", { pool: "a", team: "blue", rack: "broken" });

/** Rack as it is deployed: it throws for one team, and for one node. */
const fragile: typeof rack = {
  ...rack,
  prepare: (args, pod, around) => {
    if ((pod.labels as Record<string, string>)["team"] === "nobody") throw new Error("nobody has no racks");
    const judge = rack.prepare(args, pod, around);
    return {
      ...judge,
      filter: (node) => {
        if (node.labels["rack"] === "broken") throw new Error("a rack is broken");
        return judge.filter?.(node);
      },
    };
  },
};

/** A relay and the function that it asks, with all that lies between them but the network. */
async function scene() {
  const policy = functionPolicy("0123456789ab", "skip");
  const deployed: Policy = {
    ...policy,
    plugins: policy.plugins.map((plugin) =>
      plugin.spec === (rack as unknown) ? { ...plugin, spec: fragile } : plugin,
    ),
  } as Policy;
  const app = await createFunction(
    { policies: new Map([["default", deployed]]), facts: FACTS, callers: [] },
    {
      secret: () => undefined,
      openOnLoopback: true,
      peer: () => ({ loopback: true }),
      log: () => undefined,
      now: () => 0,
    },
  );
  const client = {
    async ask({ path, body, headers }: FunctionRequest) {
      const asked = {
        method: "POST",
        body: body as string,
        headers: { ...headers, "Content-Type": "application/json" },
      };
      const answer = await app.fetch(new Request(`http://localhost${path}`, asked));
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: bytes, bytes: bytes.length };
    },
  };
  const asker = createAsker({
    client,
    deadline: 10_000,
    otherVersion: () => undefined,
    back: () => undefined,
    metrics: { question: () => undefined },
    warn: () => undefined,
    elapsed: () => performance.now(),
  });
  return { deployed, asker, ...farOn(relayPolicy(policy), asker) };
}

function filter(policy: Policy, pod: JsonObject, nodes: readonly JsonObject[]) {
  return decideByFacts(policy, "filter", {
    pod: objectLookup(pod, 0),
    nodes: nodes.map((node) => objectLookup(node, 0)),
    around: fleetLookup(FACTS),
  });
}

describe("A pod that makes a plugin of the function throw", () => {
  test("is told the same error as where the plugin's code is, and keeps the function from no other pod", async () => {
    const { deployed, asker, far } = await scene();
    const [bad, good] = [podOf("nobody"), podOf("blue")];
    for (let time = 0; time < 4; time++) {
      await far.ahead(bad, NODES);
      const decision = filter(await far.withRows(bad, () => NODES), bad, NODES);
      expect(decision).toEqual({ error: "plugin Rack failed: nobody has no racks" });
      expect(decision).toEqual(filter(deployed, bad, NODES));
    }
    expect(asker.isAway()).toBe(false);
    const judged = filter(await far.withRows(good, () => NODES), good, NODES);
    expect(judged).toMatchObject({ rows: [{ scores: expect.anything() }, { scores: expect.anything() }] });
    asker.stop();
  });

  test("on one node is judged on the others, also while a question about all of them is on its way", async () => {
    const { asker, far } = await scene();
    const pod = podOf("blue");
    const ahead = far.ahead(pod, [...NODES, BROKEN]);
    const decision = filter(await far.withRows(pod, () => NODES), pod, NODES);
    expect(decision).toMatchObject({ rows: [{ scores: expect.anything() }, { scores: expect.anything() }] });
    await ahead;
    const all = [...NODES, BROKEN];
    expect(filter(await far.withRows(pod, () => all), pod, all)).toEqual({
      error: "plugin Rack failed: a rack is broken",
    });
    asker.stop();
  });
});

describe("A decision that needs the function more than once", () => {
  function slow(ask: (until: number | undefined) => Promise<readonly { scores: number[] }[]>, deadline: number) {
    const asker = {
      deadline,
      elapsed: () => 0,
      isAway: () => false,
      stop: () => undefined,
      ask: (_asked: unknown, _pod: JsonObject, _nodes: readonly JsonObject[], until?: number) => ask(until),
    };
    return farOn(relayPolicy(functionPolicy("0123456789ab", "reject")), asker).far;
  }

  test("has one deadline for all of its questions", async () => {
    const untils: (number | undefined)[] = [];
    const far = slow(async (until) => {
      untils.push(until);
      return [{ scores: [1] }];
    }, 1_000);
    // A node that is another one at each look.
    await far.withRows(podOf("blue"), () => [nodeOf("a", { team: "blue", rack: String(untils.length) })]);
    expect(untils).toEqual([1_000, 1_000, 1_000, 1_000]);
  });

  test("waits for no question of others beyond its own deadline", async () => {
    const far = slow(() => new Promise(() => undefined), 10);
    const pod = podOf("blue");
    void far.ahead(pod, NODES);
    expect(filter(await far.withRows(pod, () => NODES), pod, NODES)).toMatchObject({
      rows: [{ refusal: { plugin: "Rack" } }, { refusal: { plugin: "Rack" } }],
    });
  });
});
