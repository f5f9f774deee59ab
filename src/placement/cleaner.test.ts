import { describe, expect, test } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { createFakeApi, type FakeApi, LOST } from "./fake-api-fixture.ts";
import type { PlacedPod } from "./model.ts";
import type { BindingOrder } from "./ports.ts";
import { createRig, NODE, openedRig, type RigOptions } from "./protocol-fixture.ts";

const GRACE = 30_000;

/** A binder that holds a claim for pod `a`, whose Binding was lost on the way. */
async function waiting(options: RigOptions = {}) {
  const set = await openedRig({ graceTime: GRACE, ...options });
  const target = set.api.addPod({ uid: "a", gpu: 10 });
  const late: BindingOrder[] = [];
  set.api.intercept = ({ op, argument }, serve) => {
    if (op !== "postBinding") return serve();
    late.push(argument as BindingOrder);
    return LOST;
  };
  await set.rig.bind(target);
  set.api.intercept = (_, serve) => serve();
  set.api.requests.length = 0;
  return { ...set, target, deliver: async () => (await set.api.ports.postBinding(late[0] as BindingOrder)).kind };
}

const held = (api: FakeApi) => (api.ledger(NODE.name)?.claims ?? []).map(({ podUid }) => podUid);
const ops = ({ requests }: FakeApi) => requests.map(({ op }) => op);

describe("a claim whose pod is not bound", () => {
  test("stays for the grace time", async () => {
    const { api, rig, hands } = await waiting();
    hands.wall += GRACE - 1;
    expect(await rig.clean(NODE)).toEqual({ ended: 0, revoked: 0, freed: [], problems: [] });
    expect(held(api)).toEqual(["a"]);
  });

  test("is revoked after the grace time, its late Binding refused, and its device free for another pod", async () => {
    const { api, rig, hands, deliver } = await waiting();
    hands.wall += GRACE;
    expect(await rig.clean(NODE)).toEqual({ ended: 0, revoked: 1, freed: [NODE.name], problems: [] });
    expect(ops(api)).toEqual(["readPod", "markRevoked", "updateLedger"]);
    expect(api.pod("a")?.revoked).toMatch(/^id-/);
    expect(await rig.bind(api.addPod({ uid: "b", gpu: 10 }))).toMatchObject({ kind: "bound" });
    expect(await deliver()).toBe("conflict");
    expect(api.pod("a")?.nodeName).toBe("");
  });

  test("stays when its late Binding arrives just before it would be revoked", async () => {
    const { api, rig, hands, deliver } = await waiting();
    hands.wall += GRACE;
    api.intercept = async ({ op }, serve) => {
      if (op !== "markRevoked") return serve();
      api.intercept = (_, now) => now();
      await deliver();
      return serve();
    };
    expect(await rig.clean(NODE)).toMatchObject({ revoked: 0 });
    expect(held(api)).toEqual(["a"]);
    expect(api.pod("a")?.nodeName).toBe(NODE.name);
  });

  test("is bound under a new claim when the pod is asked for again after the revocation", async () => {
    const { api, rig, hands, target } = await waiting();
    const before = api.ledger(NODE.name)?.claims[0]?.id;
    hands.wall += GRACE;
    api.intercept = ({ op }, serve) => (op === "updateLedger" ? LOST : serve());
    expect(await rig.clean(NODE)).toMatchObject({ revoked: 0, problems: [expect.stringMatching(/gpu-1/)] });
    api.intercept = (_, serve) => serve();
    expect(api.pod("a")?.revoked).toBe(before);
    const answer = await rig.bind(target);
    expect(answer).toMatchObject({ kind: "bound", byThis: true });
    expect(answer.kind === "bound" && answer.claim?.id).not.toBe(before);
  });

  test("stays while the API server cannot tell, and is named in the report", async () => {
    const { api, rig, hands } = await waiting();
    hands.wall += GRACE;
    for (const lost of ["readPod", "markRevoked"]) {
      api.intercept = ({ op }, serve) => (op === lost ? LOST : serve());
      const { revoked, problems } = await rig.clean(NODE);
      expect({ revoked, held: held(api) }).toEqual({ revoked: 0, held: ["a"] });
      expect(problems).toEqual([
        expect.stringMatching(/^Pod default\/pod-a, which holds a device of node gpu-1, .*reset/),
      ]);
    }
  });
});

describe("a wall clock that jumps", () => {
  test("back keeps no claim for ever: it is revoked when this process has watched it for the grace time", async () => {
    const { api, rig, hands } = await waiting();
    hands.wall -= 3_600_000;
    await rig.clean(NODE);
    expect(held(api)).toEqual(["a"]);
    hands.elapsed += GRACE;
    expect(await rig.clean(NODE)).toMatchObject({ revoked: 1 });
  });

  test("ahead revokes a claim early, which costs its Binding and no device", async () => {
    const { rig, hands, deliver } = await waiting();
    hands.wall += 3_600_000;
    expect(await rig.clean(NODE)).toMatchObject({ revoked: 1 });
    expect(await deliver()).toBe("conflict");
  });
});

describe("a claim is taken away without waiting", () => {
  const taken = async (change: (api: FakeApi) => void) => {
    const { api, rig } = await waiting();
    change(api);
    expect(await rig.clean(NODE)).toEqual({ ended: 1, revoked: 0, freed: [NODE.name], problems: [] });
    expect(held(api)).toEqual([]);
    expect(ops(api)).not.toContain("markRevoked");
  };
  const metadata = (pod: JsonObject) => pod["metadata"] as JsonObject;

  test("when its pod is gone, also when nobody saw that happen", () =>
    taken((api) => api.changePod("a", () => undefined)));
  test("when its pod has ended", () =>
    taken((api) => api.changePod("a", (pod) => ({ ...pod, status: { phase: "Succeeded" } }))));
  test("when its pod has made room for another one of its name", () =>
    taken((api) => api.changePod("a", (pod) => ({ ...pod, metadata: { ...metadata(pod), uid: "new" } }))));
  test("when its pod is bound to another node", () =>
    taken((api) => api.changePod("a", (pod) => ({ ...pod, spec: { nodeName: "gpu-2" } }))));
});

describe("a claim whose pod is bound to the node", () => {
  test("stays, so that a binder with a late informer gives its device to nobody else", async () => {
    const { api, rig, hands, deliver } = await waiting();
    expect(await deliver()).toBe("bound");
    hands.wall += 24 * 3_600_000;
    hands.elapsed += 24 * 3_600_000;
    expect(await rig.clean(NODE)).toEqual({ ended: 0, revoked: 0, freed: [], problems: [] });
    const late = createRig(api, hands, { believed: () => [] });
    expect(await late.bind(api.addPod({ uid: "b", gpu: 10 }))).toMatchObject({ kind: "refused", cause: "device" });
  });

  test("costs no request while the informer shows the pod bound, and nothing is taken away on the informer's word", async () => {
    let shown: PlacedPod | undefined;
    const { api, rig, deliver } = await waiting({ seen: () => shown });
    await deliver();
    shown = api.pod("a");
    api.requests.length = 0;
    await rig.clean(NODE);
    expect(ops(api)).toEqual([]);
    shown = undefined;
    expect(await rig.clean(NODE)).toMatchObject({ ended: 0, revoked: 0 });
    expect(ops(api)).toEqual(["readPod"]);
    expect(held(api)).toEqual(["a"]);
  });
});

test("one node that cannot be cleaned does not keep the others from it", async () => {
  const api = createFakeApi();
  const hands = { wall: 0, elapsed: 0 };
  const rig = createRig(api, hands, { closedFor: 0 });
  const nodes = Array.from({ length: 20 }, (_, index) => ({ ...NODE, name: `n${index}`, uid: `u${index}` }));
  for (const [index, node] of nodes.entries()) {
    await rig.bind(api.addPod({ uid: `p${index}`, gpu: 1 }), node);
    api.changePod(`p${index}`, () => undefined);
  }
  api.intercept = ({ op, argument }, serve) =>
    op === "readPod" && (argument as { name: string }).name === "pod-p3" ? LOST : serve();
  const { ended, problems } = await rig.clean(...nodes);
  expect({ ended, problems: problems.length }).toEqual({ ended: 19, problems: 1 });
});
