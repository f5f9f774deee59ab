import { describe, expect, test } from "vitest";
import { field, type JsonObject } from "../protocol/json.ts";
import { createFakeApi, type FakeApi, LOST } from "./fake-api-fixture.ts";
import { gpuNode } from "./gpu-fixture.ts";
import { createRig, type Hands, NODE, openedRig } from "./protocol-fixture.ts";

const CLOSED = 75_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const spec = (api: FakeApi) => field(api.rawLedger(NODE.name), "spec") as JsonObject;

function fresh() {
  const api = createFakeApi();
  const hands: Hands = { wall: START, elapsed: 0 };
  return { api, hands, rig: createRig(api, hands) };
}

/** The three ways in which what a ledger held can become unknown. */
const losses: [string, (api: FakeApi) => void][] = [
  ["was never made", () => {}],
  ["was deleted", (api) => api.putLedger(NODE.name, undefined)],
  [
    "cannot be read",
    (api) => api.putLedger(NODE.name, { ...api.rawLedger(NODE.name), spec: { format: 1, claims: 7 } }),
  ],
];

describe.each(losses)("a ledger that %s", (_, lose) => {
  async function lost() {
    const set = fresh();
    const pods = ["a", "b"].map((uid) => set.api.addPod({ uid, gpu: 4, node: NODE.name, device: 0 }));
    const ended = { uid: "ended", gpu: 4, node: NODE.name, device: 0, phase: "Succeeded" };
    set.api.addPod(ended);
    if (lose !== losses[0]?.[1]) await createRig(set.api, set.hands).bind(set.api.addPod({ uid: "z", gpu: 1 }));
    const epoch = set.api.ledger(NODE.name)?.epoch;
    lose(set.api);
    set.api.requests.length = 0;
    return { ...set, pods, epoch };
  }

  test("is made anew from the pods of its node, under a new epoch, and refuses devices for 75 s", async () => {
    const { api, rig, hands, epoch } = await lost();
    const target = api.addPod({ uid: "c", gpu: 1 });
    expect(await rig.bind(target)).toMatchObject({ kind: "refused", cause: "closed" });
    expect(api.ledger(NODE.name)).toMatchObject({
      claims: [
        { podUid: "a", device: "0", amount: 4n },
        { podUid: "b", device: "0", amount: 4n },
      ],
      closedUntil: START + CLOSED,
    });
    expect(api.ledger(NODE.name)?.epoch).not.toBe(epoch);
    hands.wall += CLOSED - 1;
    hands.elapsed += CLOSED - 1;
    expect(await rig.bind(target)).toMatchObject({ kind: "refused", cause: "closed" });
    hands.elapsed += 1;
    expect(await rig.bind(target)).toMatchObject({ kind: "bound", byThis: true });
    expect(spec(api)["closedUntil"]).toBeUndefined();
  });

  test("counts a pod whose Binding arrived while it was closed, also for a binder that does not see the pod", async () => {
    const { api, hands } = await lost();
    const rig = createRig(api, hands, { believed: () => [] });
    const target = api.addPod({ uid: "c", gpu: 2 });
    await rig.bind(target);
    api.addPod({ uid: "late", gpu: 2, node: NODE.name, device: 0 });
    hands.elapsed += CLOSED;
    expect(await rig.bind(target)).toMatchObject({ kind: "refused", cause: "device" });
    expect(api.ledger(NODE.name)?.claims.map(({ podUid }) => podUid)).toEqual(["a", "b", "late"]);
  });

  test("is not made anew while the pods of its node cannot be listed", async () => {
    const { api, rig } = await lost();
    api.intercept = ({ op }, serve) => (op === "listPodsOnNode" ? LOST : serve());
    expect(await rig.bind(api.addPod({ uid: "c", gpu: 1 }))).toMatchObject({ kind: "refused", cause: "ledger" });
    expect(api.requests.map(({ op }) => op)).toEqual(["readPod", "readLedger"]);
  });
});

describe("the closing time of a ledger", () => {
  test("does not end early when the wall clock jumps ahead, nor last longer when it jumps back", async () => {
    const { api, rig, hands } = fresh();
    const target = api.addPod({ uid: "a", gpu: 1 });
    await rig.bind(target);
    hands.wall += 24 * 3_600_000;
    expect(await rig.bind(target)).toMatchObject({ cause: "closed" });
    hands.wall -= 48 * 3_600_000;
    hands.elapsed += CLOSED;
    expect(await rig.bind(target)).toMatchObject({ kind: "bound" });
  });

  test("goes on for a binder that starts meanwhile, and is 75 s at most for one whose clock is hours behind", async () => {
    const { api, rig, hands } = fresh();
    const target = api.addPod({ uid: "a", gpu: 1 });
    await rig.bind(target);
    const later = { wall: hands.wall + 70_000, elapsed: 0 };
    const other = createRig(api, later);
    expect(await other.bind(target)).toMatchObject({ cause: "closed" });
    const behind = { wall: hands.wall - 3 * 3_600_000, elapsed: 0 };
    const slow = createRig(api, behind);
    expect(await slow.bind(target)).toMatchObject({ cause: "closed" });
    later.elapsed += 5_000;
    behind.elapsed += CLOSED;
    expect(await other.bind(target)).toMatchObject({ kind: "bound" });
    expect(await slow.bind(api.addPod({ uid: "b", gpu: 1 }))).toMatchObject({ kind: "bound" });
  });

  test("is ended by the cleaner on a node that nobody asks for, which is reported as freed", async () => {
    const { api, rig, hands } = fresh();
    await rig.bind(api.addPod({ uid: "a", gpu: 1 }));
    expect(await rig.clean(NODE)).toMatchObject({ freed: [] });
    hands.elapsed += CLOSED;
    expect(await rig.clean(NODE)).toMatchObject({ freed: [NODE.name] });
    expect(api.ledger(NODE.name)?.closedUntil).toBe(0);
  });
});

test("a ledger of a newer format is left alone, and the refusal says what to do", async () => {
  const { api, rig } = await openedRig();
  const newer = { ...api.rawLedger(NODE.name), spec: { format: 2, secrets: ["of tomorrow"] } };
  api.putLedger(NODE.name, newer);
  const answer = await createRig(api, { wall: START, elapsed: 0 }).bind(api.addPod({ uid: "a", gpu: 1 }));
  expect(answer).toMatchObject({
    kind: "refused",
    cause: "ledger",
    detail: expect.stringMatching(/newer release.*delete/),
  });
  expect(await rig.bind(api.addPod({ uid: "b", gpu: 1 }))).toMatchObject({ kind: "refused", cause: "ledger" });
  expect(spec(api)).toEqual(newer.spec);
});

test("assume times go on behind those that the pods carry when the clock was ahead before the ledger was lost", async () => {
  const { api, hands, rig } = await openedRig();
  await rig.bind(api.addPod({ uid: "a", gpu: 1 }));
  const before = api.pod("a")?.assigned?.assumeTime ?? 0n;
  api.putLedger(NODE.name, undefined);
  hands.wall -= 24 * 3_600_000;
  const target = api.addPod({ uid: "b", gpu: 1 });
  await rig.bind(target);
  hands.elapsed += CLOSED;
  expect(await rig.bind(target)).toMatchObject({ claim: { assumeTime: before + 1n } });
});

test("a node that was made again under its name takes its ledger over with the claims in it", async () => {
  const { api, rig } = await openedRig();
  await rig.bind(api.addPod({ uid: "a", gpu: 8 }));
  const reborn = { ...NODE, uid: "reborn" };
  expect(await rig.bind(api.addPod({ uid: "b", gpu: 8 }), reborn)).toMatchObject({ kind: "refused", cause: "device" });
  expect(await rig.bind(api.addPod({ uid: "c", gpu: 2 }), reborn)).toMatchObject({ kind: "bound" });
  expect(api.ledger(NODE.name)).toMatchObject({ nodeUid: "reborn", claims: [{ podUid: "a" }, { podUid: "c" }] });
  expect(field(api.rawLedger(NODE.name), "metadata")).toMatchObject({ ownerReferences: [{ uid: "reborn" }] });
});

test("a device that became unhealthy is written down with the next look at the ledger", async () => {
  const { api, rig } = await openedRig();
  const sick = gpuNode(NODE.name, [1, 10], ["0"]);
  expect(await rig.bind(api.addPod({ uid: "a", gpu: 1 }), sick)).toMatchObject({ kind: "refused", cause: "device" });
  expect(field(field(api.rawLedger(NODE.name), "status"), "usage")).toBe("0:0/10!");
});
