import { describe, expect, test } from "vitest";
import { field, type JsonObject } from "../protocol/json.ts";
import { LOST } from "./fake-api-fixture.ts";
import { createRig, NODE, openedRig } from "./protocol-fixture.ts";

describe("a ledger that cannot be written", () => {
  test("because its answers are lost is tried again, and a claim that did arrive is found and not doubled", async () => {
    const { api, rig } = await openedRig();
    let lost = 2;
    api.intercept = ({ op }, serve) => {
      const outcome = serve();
      return op === "updateLedger" && lost-- > 0 ? LOST : outcome;
    };
    expect(await rig.bind(api.addPod({ uid: "a", gpu: 8 }))).toMatchObject({ kind: "bound" });
    expect(api.ledger(NODE.name)?.claims).toHaveLength(1);
  });

  test("because of access is refused at once in the API server's words", async () => {
    const { api, rig } = await openedRig();
    const forbidden = { kind: "rejected", status: 403, message: "nodeledgers is forbidden" };
    api.intercept = ({ op }, serve) => (op === "updateLedger" ? forbidden : serve());
    const answer = await rig.bind(api.addPod({ uid: "a", gpu: 8 }));
    expect(answer).toMatchObject({
      kind: "refused",
      cause: "ledger",
      detail: expect.stringMatching(/gpu-1.*forbidden/),
    });
    expect(api.requests.filter(({ op }) => op === "postBinding")).toEqual([]);
  });

  test("because the cluster's definition drops a field of it posts no Binding and names the remedy", async () => {
    const { api, rig } = await openedRig();
    api.intercept = ({ op }, serve) => {
      const outcome = serve() as { object: JsonObject };
      if (op !== "updateLedger") return outcome;
      const { claims: _, ...rest } = field(outcome.object, "spec") as JsonObject;
      return { ...outcome, object: { ...outcome.object, spec: { ...rest, claims: [] } } };
    };
    const answer = await rig.bind(api.addPod({ uid: "a", gpu: 8 }));
    expect(answer).toMatchObject({
      kind: "refused",
      cause: "ledger",
      detail: expect.stringMatching(/nodeledgers.yaml/),
    });
    expect(api.requests.filter(({ op }) => op === "postBinding")).toEqual([]);
  });

  test("because others write all the time is given up after a few attempts", async () => {
    const { api, rig } = await openedRig();
    api.intercept = ({ op }, serve) => {
      if (op === "updateLedger") api.putLedger(NODE.name, api.rawLedger(NODE.name));
      return serve();
    };
    expect(await rig.bind(api.addPod({ uid: "a", gpu: 8 }))).toMatchObject({ kind: "refused", cause: "ledger" });
  });
});

test("a ledger is written although a newer definition adds a field to it and sorts the others", async () => {
  const { api, rig } = await openedRig();
  api.intercept = ({ op }, serve) => {
    const outcome = serve() as { object: JsonObject };
    if (op !== "updateLedger") return outcome;
    const { claims, ...rest } = field(outcome.object, "spec") as JsonObject;
    return { ...outcome, object: { ...outcome.object, spec: { more: "new", claims, ...rest } } };
  };
  expect(await rig.bind(api.addPod({ uid: "a", gpu: 8 }))).toMatchObject({ kind: "bound" });
});

test("a refusal by a ledger that another binder has changed meanwhile is looked at again", async () => {
  const { api, rig, hands } = await openedRig();
  await rig.bind(api.addPod({ uid: "a", gpu: 10 }));
  const other = createRig(api, hands);
  api.changePod("a", () => undefined);
  expect(await other.clean(NODE)).toMatchObject({ ended: 1 });
  expect(await rig.bind(api.addPod({ uid: "b", gpu: 10 }))).toMatchObject({ kind: "bound" });
});
