import { describe, expect, it, vi } from "vitest";
import type { EventDraft } from "../cluster/event-object.ts";
import { LOST } from "../placement/fake-api-fixture.ts";
import { createAttempts } from "./attempts.ts";
import { bindLive } from "./bind.ts";
import { protocolOn, watch } from "./binder-fixture.ts";

function scene() {
  const watched = watch();
  watched.node("gpu-1", [2, 20]);
  const { api, protocol } = protocolOn(watched, "gpu-1");
  const events: EventDraft[] = [];
  const options = {
    state: watched.state,
    protocol,
    attempts: createAttempts(),
    record: (event: EventDraft) => void events.push(event),
  };
  const pod = (uid: string, gpu?: number) => ({
    ...api.addPod({ uid, ...(gpu !== undefined && { gpu }) }),
    node: "gpu-1",
  });
  const asking = (signal = new AbortController().signal) => ({ profile: "gpu", policy: "gpu@abc", signal });
  return { api, options, events, pod, asking };
}

const reasons = (events: readonly EventDraft[]) => events.map(({ reason }) => reason);

describe("binding a pod", () => {
  it("writes device and policy with the Binding itself and tells of the device", async () => {
    const { api, options, events, pod, asking } = scene();
    const bound = await bindLive(options, pod("a", 6), asking());
    expect(bound).toMatchObject({ fields: { pod: "default/pod-a", node: "gpu-1", outcome: "bound", device: "0" } });
    expect(bound.error).toBeUndefined();
    expect(api.pod("a")?.object).toMatchObject({
      metadata: { annotations: { "berth.dev/policy": "gpu@abc", ALIYUN_COM_GPU_MEM_IDX: "0" } },
      spec: { nodeName: "gpu-1" },
    });
    expect(reasons(events)).toEqual(["DeviceAssigned"]);
  });

  it("binds a pod without device request by one Binding and leaves the event to the scheduler", async () => {
    const { api, options, events, pod, asking } = scene();
    await bindLive(options, pod("a"), asking());
    expect(api.pod("a")?.nodeName).toBe("gpu-1");
    expect(events).toEqual([]);
    expect(api.requests.filter(({ op }) => op.endsWith("Ledger"))).toEqual([]);
  });

  it("says why not, to the scheduler and in an event", async () => {
    const { options, events, pod, asking } = scene();
    const { error, fields } = await bindLive(options, pod("a", 11), asking());
    expect(error).toBe("node(s) had no healthy GPU as large as the 11 aliyun.com/gpu-mem that the pod asks for");
    expect(fields).toMatchObject({ outcome: "device" });
    expect(events).toMatchObject([{ type: "Warning", reason: "BindRefused", regarding: { uid: "a" } }]);
  });

  it("refuses a node that nobody knows", async () => {
    const { options, pod, asking } = scene();
    const { error } = await bindLive(options, { ...pod("a", 6), node: "nowhere" }, asking());
    expect(error).toBe("The node is not known to the binder yet");
  });

  it("emits Scheduled when the caller has left before the answer", async () => {
    const { options, events, pod, asking } = scene();
    const caller = new AbortController();
    const binding = bindLive(options, pod("a", 6), asking(caller.signal));
    caller.abort();
    await binding;
    expect(reasons(events)).toEqual(["DeviceAssigned", "Scheduled"]);
    expect(events[1]?.note).toBe("Successfully assigned default/pod-a to gpu-1");
  });

  it("answers in time when the API server does not, and emits Scheduled once the Binding has taken effect", async () => {
    const { api, options, events, pod, asking } = scene();
    const held = Promise.withResolvers<void>();
    api.intercept = async ({ op }, serve) => {
      if (op === "postBinding") await held.promise;
      return serve();
    };
    const answer = await bindLive({ ...options, answerWithin: 20 }, pod("a", 6), asking());
    expect(answer.error).toBe("The API server did not answer in time; the Binding may still take effect");
    expect(events).toEqual([]);
    held.resolve();
    await vi.waitFor(() => expect(reasons(events)).toEqual(["DeviceAssigned", "Scheduled"]));
  });

  it("is a success, with its events, when the answer to the Binding was lost and the pod shows that it took effect", async () => {
    const { api, options, events, pod, asking } = scene();
    api.intercept = ({ op }, serve) => {
      const outcome = serve();
      return op === "postBinding" ? LOST : outcome;
    };
    const bound = await bindLive(options, pod("a", 6), asking());
    expect(bound).toMatchObject({ fields: { outcome: "bound", device: "0" } });
    expect(bound.error).toBeUndefined();
    expect(reasons(events)).toEqual(["DeviceAssigned"]);
    const plain = await bindLive(options, pod("b"), asking());
    expect(plain.error).toBeUndefined();
  });

  it("is not known when the answer was lost and the pod is still unbound: its device stays promised", async () => {
    const { api, options, events, pod, asking } = scene();
    api.intercept = ({ op }, serve) => (op === "postBinding" ? LOST : serve());
    const bound = await bindLive(options, pod("a", 6), asking());
    expect(bound.error).toBe("The API server's answer to the Binding was lost; it may have taken effect");
    expect(api.ledger("gpu-1")?.claims).toMatchObject([{ podUid: "a" }]);
    expect(events).toEqual([]);
  });

  it("looks again when the pod cannot be read either", async () => {
    const { api, options, pod, asking } = scene();
    let reads = 0;
    api.intercept = ({ op }, serve) => {
      const outcome = serve();
      if (op === "readPod" && api.pod("a")?.nodeName === "gpu-1" && ++reads === 1) return LOST;
      return op === "postBinding" ? LOST : outcome;
    };
    expect((await bindLive(options, pod("a", 6), asking())).error).toBeUndefined();
    expect(reads).toBe(2);
  });

  it("takes a pod that is bound to the node already for a success and tells nobody again", async () => {
    const { options, events, pod, asking } = scene();
    const target = pod("a", 6);
    await bindLive(options, target, asking());
    const again = await bindLive(options, target, asking());
    expect(again.error).toBeUndefined();
    expect(reasons(events)).toEqual(["DeviceAssigned"]);
  });
});
