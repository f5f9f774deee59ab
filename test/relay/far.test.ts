import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decision } from "../../src/extender/decider.ts";
import { rank } from "../../src/policy/rank.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import {
  decide,
  farOn,
  functionClient,
  functionPolicy,
  nodeOf,
  plainAsker,
  podOf,
  relayPolicy,
} from "./far-fixture.ts";

function scene(whenAway: "skip" | "reject" = "skip") {
  const policy = functionPolicy("0123456789ab", whenAway);
  const client = functionClient(policy);
  const asker = plainAsker(client);
  return { policy, client, asker, ...farOn(relayPolicy(policy), asker) };
}

const NODES = [
  nodeOf("a-0", { pool: "a", team: "blue", rack: "1" }),
  nodeOf("a-1", { pool: "a", team: "blue", rack: "1" }),
  nodeOf("b-0", { pool: "b", team: "blue", rack: "4" }),
  nodeOf("b-1", { pool: "b", team: "red", rack: "4" }),
  nodeOf("c-0", { team: "blue", rack: "2" }),
  nodeOf("d-0", { pool: "a", team: "blue" }),
  nodeOf("e-0", { pool: "a", team: "blue", rack: "1" }, "no amount"),
];

function integers({ columns, rows }: Decision): unknown {
  const verdicts = rows.map((row) => ("refusal" in row ? { ...row.refusal, unreadable: undefined } : "kept"));
  return {
    verdicts,
    scores: rank(
      columns,
      rows.map((row) => ("scores" in row ? row.scores : undefined)),
    ),
  };
}

describe("Plugins that only the function has", () => {
  test("give the same verdicts, reasons and integers as where their code is", async () => {
    const { policy, far } = scene();
    const pod = podOf("blue");
    const relayed = decide(await far.withRows(pod, () => NODES), pod, NODES);
    expect(integers(relayed)).toEqual(integers(decide(policy, pod, NODES)));
    expect(integers(relayed)).toMatchObject({
      verdicts: ["kept", "kept", "kept", { plugin: "Rack" }, { plugin: "NodeLabel" }, "kept", { plugin: "Rack" }],
    });
  });

  test("are asked once for all pods, nodes and verbs that need the same, and told only the facts they read", async () => {
    const { far, client, counts } = scene();
    await Promise.all([1, 2, 3].map(() => far.withRows(podOf("blue"), () => NODES)));
    await far.withRows(podOf("blue"), () => NODES.slice(2));
    expect(client.asked).toHaveLength(1);
    expect(client.asked[0]?.["nodes"]).toHaveLength(6);
    expect(JSON.stringify(client.asked)).not.toContain("hostname");
    expect(counts).toMatchObject({ asked: 18, remembered: 5, waiting: 0 });
  });

  test("are asked again for a pod or a node that differs in a fact they read, and for no other", async () => {
    const { far, client } = scene();
    await far.withRows(podOf("blue"), () => NODES);
    await far.withRows(podOf("blue", "2"), () => NODES);
    const moved = nodeOf("a-0", { pool: "z", team: "blue", rack: "9", other: "label" });
    await far.withRows(podOf("blue"), () => [moved, nodeOf("a-1", { pool: "y", team: "blue", rack: "1" })]);
    expect(client.asked.map((question) => (question["nodes"] as unknown[]).length)).toEqual([6, 6, 1]);
  });

  test("that are asked ahead make nobody wait", async () => {
    const { far, client, counts } = scene();
    await far.ahead(podOf("blue"), NODES);
    await far.withRows(podOf("blue"), () => NODES);
    expect(client.asked).toHaveLength(1);
    expect(counts.asked).toBe(0);
  });

  test("with skip, go on without the plugin while the function is away: it refuses nothing and has no weight", async () => {
    const { far, asker, counts } = scene("skip");
    asker.away = true;
    const pod = podOf("blue");
    const { verdicts, scores } = integers(decide(await far.withRows(pod, () => NODES), pod, NODES)) as {
      verdicts: unknown[];
      scores: number[];
    };
    expect(verdicts.map((verdict) => (verdict === "kept" ? "kept" : "refused"))).toEqual([
      "kept",
      "kept",
      "kept",
      "kept",
      "refused",
      "kept",
      "refused",
    ]);
    expect(scores.slice(0, 4)).toEqual([10, 10, 5, 5]);
    expect(counts.rejected).toBe(0);
  });

  test("with skip, remembered refusals still count, and one missing row takes the plugin's scores from all nodes", async () => {
    const { far, asker } = scene("skip");
    const pod = podOf("blue");
    await far.withRows(pod, () => NODES.slice(0, 4));
    asker.away = true;
    const nodes = [...NODES.slice(0, 4), nodeOf("new", { pool: "a", team: "red", rack: "7" })];
    const { verdicts, scores } = integers(decide(await far.withRows(pod, () => nodes), pod, nodes)) as {
      verdicts: unknown[];
      scores: number[];
    };
    expect(verdicts).toEqual(["kept", "kept", "kept", expect.objectContaining({ plugin: "Rack" }), "kept"]);
    expect(scores).toEqual([10, 10, 5, 0, 10]);
  });

  test("with reject, keep pods waiting with one constant reason while the function is away", async () => {
    const { far, asker, counts } = scene("reject");
    asker.away = true;
    const pod = podOf("blue");
    const { verdicts } = integers(decide(await far.withRows(pod, () => NODES), pod, NODES)) as { verdicts: unknown[] };
    expect(verdicts[0]).toMatchObject({
      plugin: "Rack",
      reason: "node(s) could not be judged: the function that has the policy's plugin does not answer",
      unresolvable: true,
    });
    expect(counts.rejected).toBeGreaterThan(0);
  });

  test("are not asked about a pod that they could not read", async () => {
    const { far, client } = scene();
    const pod = podOf("blue", "lots");
    const policy = await far.withRows(pod, () => NODES);
    expect(() => decide(policy, pod, NODES)).toThrow(/plugin Rack: pod field/);
    expect(client.asked).toEqual([]);
  });

  test("no row is served of a fact that has changed, whenever nodes change and however late answers come", async () => {
    const labels = fc.record({
      pool: fc.constantFrom("a", "b"),
      team: fc.constantFrom("blue", "red"),
      rack: fc.constantFrom("1", "2", "3"),
    });
    const step = fc.oneof(
      fc.record({ kind: fc.constant("change" as const), node: fc.nat(4), labels, cpu: fc.constantFrom("4", "8") }),
      fc.record({
        kind: fc.constant("ask" as const),
        team: fc.constantFrom("blue", "red"),
        cpu: fc.constantFrom("1", "2"),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { minLength: 4, maxLength: 30 }), async (s, steps) => {
        const { policy, far, client } = scene();
        client.before = () => s.schedule(Promise.resolve());
        const cluster = new Map<number, JsonObject>();
        for (let node = 0; node < 5; node++)
          cluster.set(node, nodeOf(`n-${node}`, { pool: "a", team: "blue", rack: "1" }));
        const nodes = () => [...cluster.values()];
        const requests: Promise<void>[] = [];
        const ask = async (pod: JsonObject): Promise<void> => {
          const judged = await far.withRows(pod, nodes);
          compare(decide(judged, pod, nodes()), decide(policy, pod, nodes()));
        };
        s.scheduleSequence(
          steps.map((each, index) => ({
            label: String(index),
            builder: async () => {
              if (each.kind === "change") cluster.set(each.node, nodeOf(`n-${each.node}`, each.labels, each.cpu));
              else requests.push(ask(podOf(each.team, each.cpu)));
            },
          })),
        );
        await s.waitFor(Promise.resolve());
        await s.waitIdle();
        await Promise.all(requests);
      }),
      { numRuns: 150 },
    );
  });
});

/** A node that changed at the last moment may have no row, and then no score of the plugin has; none has a wrong one. */
function compare(relayed: Decision, direct: Decision): void {
  const complete = relayed.rows.every((row, index) => !("scores" in row) || "scores" in (direct.rows[index] ?? {}));
  for (const [index, row] of relayed.rows.entries()) {
    if ("refusal" in row) expect(row).toEqual(direct.rows[index]);
    else if (row.scores[1] !== undefined) expect(row).toEqual(direct.rows[index]);
  }
  if (complete && relayed.rows.some((row) => "scores" in row && row.scores[1] !== undefined)) {
    expect(integers(relayed)).toEqual(integers(direct));
  }
}
