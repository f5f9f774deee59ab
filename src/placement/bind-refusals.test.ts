import { describe, expect, test } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { type FakeApi, LOST } from "./fake-api-fixture.ts";
import { NODE, openedRig as setUp } from "./protocol-fixture.ts";

const ops = ({ requests }: FakeApi) => requests.map(({ op }) => op);
const ended = (pod: JsonObject) => ({ ...pod, status: { phase: "Failed" } });

describe("a bind is refused without any write when", () => {
  const refused = async (change: (api: FakeApi) => void, request = {}) => {
    const { api, rig } = await setUp();
    const target = api.addPod({ uid: "a", gpu: 4 });
    change(api);
    const answer = await rig.bind({ ...target, ...request });
    expect(ops(api).filter((op) => op !== "readPod" && op !== "readLedger")).toEqual([]);
    return answer.kind === "refused" ? answer.cause : answer.kind;
  };

  test("the pod has another UID than was asked for", async () => {
    expect(await refused(() => {}, { uid: "old" })).toBe("replaced");
  });
  test("the pod does not exist", async () => {
    expect(await refused((api) => api.changePod("a", () => undefined))).toBe("gone");
  });
  test("the pod has ended", async () => {
    expect(await refused((api) => api.changePod("a", ended))).toBe("ended");
  });
  test("the pod is being deleted", async () => {
    const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    const change = (pod: JsonObject) => ({ ...pod, metadata: { ...(pod["metadata"] as JsonObject), ...deleting } });
    expect(await refused((api) => api.changePod("a", change))).toBe("ended");
  });
  test("the pod cannot be read", async () => {
    expect(await refused((api) => (api.intercept = ({ op }, serve) => (op === "readPod" ? LOST : serve())))).toBe(
      "unreachable",
    );
  });
  test("the pod asks for a device in a way that nothing can serve", async () => {
    const spec = { containers: [{ name: "c", resources: { limits: { "aliyun.com/gpu-count": "1" } } }] };
    expect(await refused((api) => api.changePod("a", (pod) => ({ ...pod, spec })))).toBe("device");
  });
  test("no device has room", async () => {
    const { api, rig } = await setUp();
    await rig.bind(api.addPod({ uid: "a", gpu: 8 }));
    api.requests.length = 0;
    expect(await rig.bind(api.addPod({ uid: "b", gpu: 8 }))).toMatchObject({ kind: "refused", cause: "device" });
    expect(ops(api)).toEqual(["readPod", "readLedger"]);
  });
});

test("a Binding that the API server forbids is refused with its words in the detail, and the claim waits for the cleaner", async () => {
  const { api, rig, hands } = await setUp();
  const target = api.addPod({ uid: "a", gpu: 4 });
  const forbidden = { kind: "rejected", status: 403, message: "pods/binding is forbidden" };
  api.intercept = ({ op }, serve) => (op === "postBinding" ? forbidden : serve());
  const detail = "HTTP 403: pods/binding is forbidden";
  expect(await rig.bind(target)).toMatchObject({ kind: "refused", cause: "rejected", detail });
  hands.wall += 30_000;
  expect(await rig.clean(NODE)).toMatchObject({ revoked: 1 });
});

test("every reason is one constant sentence without a name or a number of the pod or the node", async () => {
  const { api, rig } = await setUp();
  const targets = ["a", "b"].map((uid) => api.addPod({ uid, gpu: 4 }));
  const answers = await Promise.all(targets.map((target) => rig.bind({ ...target, uid: "old" })));
  const reasons = answers.map((answer) => (answer.kind === "refused" ? answer.reason : answer.kind));
  expect(new Set(reasons)).toEqual(new Set(["The pod was replaced by another one of the same name"]));
});
