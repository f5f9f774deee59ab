import { describe, expect, test } from "vitest";
import { startFarRows } from "../../src/binder/far-rows.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { functionClient, functionPolicy, nodeOf, podOf, relayPolicy } from "./far-fixture.ts";

const NODES = [nodeOf("a-0", { pool: "a", team: "blue", rack: "1" })];
const VERSIONS = ["000000000001", "000000000002", "000000000003"] as const;

function begin(pods: readonly JsonObject[] = []) {
  const client = functionClient(functionPolicy(VERSIONS[0]));
  const follow = (objects: readonly JsonObject[]) => ({
    values: () => objects.values(),
    subscribe: () => () => undefined,
  });
  const nothing = () => undefined;
  const rows = startFarRows({
    client,
    deadline: 1_000,
    sources: { pods: follow(pods), nodes: follow(NODES) } as never,
    refresh: nothing,
    wake: nothing,
    metrics: { rows: nothing, waiting: nothing, question: nothing, away: nothing } as never,
    log: nothing,
  });
  const decideBy = async (version: string) => {
    client.policy = functionPolicy(version);
    const far = rows.of(relayPolicy(client.policy));
    await far?.withRows(podOf("blue"), () => NODES);
    return client.asked.length;
  };
  return { rows, decideBy, client };
}

describe("Rows that a function was asked for", () => {
  test("are there again when its replicas answer with two versions by turns", async () => {
    const { rows, decideBy } = begin();
    const [old, next] = VERSIONS;
    expect([await decideBy(old), await decideBy(next)]).toEqual([1, 2]);
    expect([await decideBy(old), await decideBy(next), await decideBy(old)]).toEqual([2, 2, 2]);
    rows.stop();
  });

  test("are forgotten once two newer versions have come", async () => {
    const { rows, decideBy } = begin();
    const [old, next, newest] = VERSIONS;
    for (const version of [old, next, newest]) await decideBy(version);
    expect(await decideBy(old)).toBe(4);
    rows.stop();
  });

  test("are asked for ahead about the pods that wait once the function is back", async () => {
    const waiting: JsonObject[] = [];
    const { rows, decideBy, client } = begin(waiting);
    const [version] = VERSIONS;
    await decideBy(version);
    client.before = () => Promise.reject(new Error("nobody answers"));
    const far = rows.of(relayPolicy(client.policy));
    for (let turn = 0; rows.problem() === undefined && turn < 20; turn++)
      await far?.withRows(podOf(`colour-${turn}`), () => NODES);
    expect(rows.problem()).toBe("the function does not answer");
    waiting.push(podOf("green"));
    client.before = async () => undefined;
    const asked = () => client.asked.filter((question) => JSON.stringify(question).includes("green")).length;
    await expect.poll(asked, { timeout: 10_000 }).toBe(1);
    await far?.withRows(podOf("green"), () => NODES);
    expect(asked()).toBe(1);
    rows.stop();
  });
});
