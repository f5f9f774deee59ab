import { describe, expect, test } from "vitest";
import { bindPod } from "./bind.ts";
import type { FakeApi } from "./fake-api-fixture.ts";
import { gpuNode } from "./gpu-fixture.ts";
import { createRig, NODE, openedRig as setUp } from "./protocol-fixture.ts";

const ops = ({ requests }: FakeApi) => requests.map(({ op }) => op);
const claims = (api: FakeApi) => api.ledger(NODE.name)?.claims ?? [];

describe("pods that are bound at once", () => {
  test("share a 10-unit device three times by 3 units, and two of five are refused", async () => {
    const { api, rig } = await setUp();
    const targets = ["a", "b", "c", "d", "e"].map((uid) => api.addPod({ uid, gpu: 3 }));
    const answers = await Promise.all(targets.map((target) => rig.bind(target)));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(["bound", "bound", "bound", "refused", "refused"]);
    const amounts = api.pods().flatMap(({ assigned }) => (assigned === undefined ? [] : [assigned.amount]));
    expect(amounts).toEqual([3n, 3n, 3n]);
  });

  test("are claimed in one write of the ledger", async () => {
    const { api, rig } = await setUp();
    const node = gpuNode("gpu-1", [1, 100]);
    const targets = Array.from({ length: 20 }, (_, index) => api.addPod({ uid: `p${index}`, gpu: 3 }));
    await Promise.all(targets.map((target) => rig.bind(target, node)));
    expect(ops(api).filter((op) => op === "updateLedger").length).toBeLessThanOrEqual(2);
    expect(claims(api)).toHaveLength(20);
  });

  test("get strictly increasing assume times while the clock stands still, jumps back and the binder restarts", async () => {
    const { api, hands, rig } = await setUp();
    const bound = async (uid: string, by = rig) => {
      const answer = await by.bind(api.addPod({ uid, gpu: 1 }));
      return answer.kind === "bound" ? (answer.claim?.assumeTime ?? 0n) : 0n;
    };
    const times = [await bound("a"), await bound("b")];
    hands.wall -= 3_600_000;
    times.push(await bound("c"), await bound("d", createRig(api, hands)));
    hands.wall += 7_200_000;
    times.push(await bound("e"));
    expect(times).toEqual([...times].sort((one, other) => (one < other ? -1 : 1)));
    expect(new Set(times).size).toBe(5);
    expect(times.at(-1)).toBe(BigInt(hands.wall) * 1_000_000n);
  });
});

test("an assignment that throws fails its own bind only", async () => {
  const { api, rig } = await setUp();
  const { choose } = rig.binder.contract;
  const faulty = {
    ...rig.binder.contract,
    choose: (...[pod, ...rest]: Parameters<typeof choose>) => {
      if (pod.uid === "bad") throw new Error("bad pod");
      return choose(pod, ...rest);
    },
  };
  const targets = ["a", "bad", "b"].map((uid) => api.addPod({ uid, gpu: 3 }));
  const answers = await Promise.allSettled(
    targets.map((target) => bindPod({ ...rig.binder, contract: faulty }, { ...target, node: NODE })),
  );
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(claims(api).map(({ podUid }) => podUid)).toEqual(["a", "b"]);
});
