import { describe, expect, test } from "vitest";
import { field } from "../protocol/json.ts";
import { CONFLICT, type FakeApi, LOST } from "./fake-api-fixture.ts";
import { gpuNode } from "./gpu-fixture.ts";
import type { BindingOrder } from "./ports.ts";
import { NODE, openedRig as setUp } from "./protocol-fixture.ts";

const ops = ({ requests }: FakeApi) => requests.map(({ op }) => op);
const bindings = ({ requests }: FakeApi) =>
  requests.filter(({ op }) => op === "postBinding").map(({ argument }) => argument as BindingOrder);
const claims = (api: FakeApi, node = NODE.name) => api.ledger(node)?.claims ?? [];

describe("a pod that asks for a device", () => {
  test("is bound by one Binding with its UID, the version that was seen before the claim, and all annotations", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    const before = api.pod("a")?.resourceVersion;
    const answer = await rig.bind(target, NODE, { annotations: { "berth.dev/policy": "default@1" } });
    expect(answer).toMatchObject({ kind: "bound", byThis: true, claim: { podUid: "a", device: "0", amount: 4n } });
    expect(ops(api)).toEqual(["readPod", "updateLedger", "postBinding"]);
    expect(bindings(api)).toEqual([
      {
        ...target,
        resourceVersion: before,
        nodeName: NODE.name,
        annotations: {
          "berth.dev/policy": "default@1",
          ALIYUN_COM_GPU_MEM_IDX: "0",
          ALIYUN_COM_GPU_MEM_POD: "4",
          ALIYUN_COM_GPU_MEM_DEV: "10",
          ALIYUN_COM_GPU_MEM_ASSIGNED: "false",
          ALIYUN_COM_GPU_MEM_ASSUME_TIME: expect.stringMatching(/^\d{19}$/),
        },
      },
    ]);
    expect(claims(api)).toMatchObject([{ podUid: "a", device: "0" }]);
  });

  test("is bound without a read when the informer has shown it", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    const seen = api.pod("a");
    expect(await rig.bind(target, NODE, { ...(seen && { seen }) })).toMatchObject({ kind: "bound", byThis: true });
    expect(ops(api)).toEqual(["updateLedger", "postBinding"]);
  });

  test("is read again and bound under a new claim when it changed meanwhile", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    const seen = api.pod("a");
    api.changePod("a", (pod) => ({ ...pod, status: { phase: "Pending", message: "still waiting" } }));
    expect(await rig.bind(target, NODE, { ...(seen && { seen }) })).toMatchObject({ kind: "bound", byThis: true });
    expect(ops(api)).toEqual(["updateLedger", "postBinding", "readPod", "updateLedger", "postBinding"]);
    expect(claims(api)).toHaveLength(1);
  });

  test("is given up when it changes each time, and keeps its claim for the cleaner", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    api.intercept = ({ op }, serve) => (op === "postBinding" ? CONFLICT : serve());
    expect(await rig.bind(target)).toMatchObject({ kind: "refused", cause: "changing" });
    expect(claims(api)).toHaveLength(1);
  });

  test("is a success without a second Binding when it is bound to the node already", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    await rig.bind(target);
    const annotations = field(field(api.pod("a")?.object, "metadata"), "annotations");
    expect(await rig.bind(target)).toEqual({ kind: "bound", byThis: false });
    expect(bindings(api)).toHaveLength(1);
    expect(field(field(api.pod("a")?.object, "metadata"), "annotations")).toEqual(annotations);
  });

  test("is a success when a lost Binding turns out to have taken effect", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    api.intercept = ({ op }, serve) => {
      const outcome = serve();
      return op === "postBinding" ? LOST : outcome;
    };
    expect(await rig.bind(target)).toMatchObject({ kind: "unknown", claim: { podUid: "a" } });
    api.intercept = (_, serve) => serve();
    expect(await rig.bind(target)).toEqual({ kind: "bound", byThis: false });
    expect(bindings(api)).toHaveLength(1);
  });

  test("is refused and its claim dropped when another one has bound it to another node", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    api.intercept = (request, serve) => {
      if (request.op === "postBinding") api.changePod("a", (pod) => ({ ...pod, spec: { nodeName: "elsewhere" } }));
      return serve();
    };
    expect(await rig.bind(target)).toMatchObject({ kind: "refused", cause: "elsewhere" });
    expect(claims(api)).toEqual([]);
  });

  test("is refused and its device free at once when it is gone by the time of the Binding", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 10 });
    api.intercept = (request, serve) => {
      if (request.op === "postBinding") api.changePod("a", () => undefined);
      return serve();
    };
    expect(await rig.bind(target)).toMatchObject({ kind: "refused", cause: "gone" });
    api.intercept = (_, serve) => serve();
    expect(claims(api)).toEqual([]);
    expect(await rig.bind(api.addPod({ uid: "b", gpu: 10 }))).toMatchObject({ kind: "bound" });
  });

  test("keeps its device under a new claim when it is tried again after a lost answer", async () => {
    const { api, rig } = await setUp();
    const two = gpuNode(NODE.name, [2, 20]);
    await rig.bind(api.addPod({ uid: "a", gpu: 8 }), two);
    const target = api.addPod({ uid: "b", gpu: 4 });
    api.intercept = ({ op }, serve) => (op === "postBinding" ? LOST : serve());
    const first = await rig.bind(target, two);
    api.intercept = (_, serve) => serve();
    api.changePod("a", () => undefined);
    await rig.clean(two);
    const second = await rig.bind(target, two);
    expect(first).toMatchObject({ kind: "unknown", claim: { device: "1" } });
    expect(second).toMatchObject({ kind: "bound", claim: { device: "1" } });
    expect(first.kind === "unknown" && first.claim?.id).not.toBe(second.kind === "bound" && second.claim?.id);
    expect(claims(api)).toMatchObject([{ podUid: "b", device: "1" }]);
  });

  test("is refused while the device promised to it is unhealthy, for its earlier Binding may still arrive", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    api.intercept = ({ op }, serve) => (op === "postBinding" ? LOST : serve());
    await rig.bind(target);
    const answer = await rig.bind(target, gpuNode(NODE.name, [1, 10], ["0"]));
    expect(answer).toMatchObject({ kind: "refused", cause: "device", reason: expect.stringMatching(/unhealthy/) });
  });
});

describe("a pod that asks for no device", () => {
  test("is bound by a Binding with its UID only, without a claim", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a" });
    const seen = api.pod("a");
    expect(await rig.bind(target, NODE, { ...(seen && { seen }) })).toEqual({ kind: "bound", byThis: true });
    expect(api.requests).toEqual([
      { op: "postBinding", argument: { ...target, nodeName: NODE.name, annotations: {} } },
    ]);
  });

  test("is a success when it was bound to the node already, and refused when to another one", async () => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a" });
    const seen = api.pod("a");
    await rig.bind(target);
    expect(await rig.bind(target, NODE, { ...(seen && { seen }) })).toEqual({ kind: "bound", byThis: false });
    const answer = await rig.bind(target, gpuNode("gpu-2", [1, 10]), { ...(seen && { seen }) });
    expect(answer).toMatchObject({ kind: "refused", cause: "elsewhere" });
  });
});

test("no write reaches a pod but its Binding, and an unknown field of it stays", async () => {
  const { api, rig } = await setUp();
  const target = api.addPod({ uid: "a", gpu: 4, spec: { fieldOfTomorrow: { deep: true } } });
  await rig.bind(target);
  expect(ops(api).filter((op) => op === "postBinding" || op === "markRevoked")).toEqual(["postBinding"]);
  expect(field(field(api.pod("a")?.object, "spec"), "fieldOfTomorrow")).toEqual({ deep: true });
});
