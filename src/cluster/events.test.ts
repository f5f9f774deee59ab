import { describe, expect, it } from "vitest";
import { afterTest, type Behaviour, connectTo, fakeApi, fakeTiming, refuse, reply } from "./api-fixture.ts";
import { cutText, type EventDraft } from "./event-object.ts";
import { type EventRecorderOptions, startEventRecorder } from "./events.ts";

const ASSIGNED: EventDraft = {
  type: "Normal",
  reason: "DeviceAssigned",
  action: "Binding",
  note: "Device 1 of node n1, 4 units",
  regarding: { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web-0", uid: "u1" },
};
const EVENTS = "/apis/events.k8s.io/v1/namespaces/shop/events";
const created: Behaviour = (_, answer) => reply(answer, 201, {});

async function recorderTo(behaviour: Behaviour = created, options: Partial<EventRecorderOptions> = {}) {
  const api = await fakeApi(behaviour);
  const timing = fakeTiming(Date.UTC(2026, 0, 1));
  const connection = await connectTo(api, { within: 300 });
  const reporter = { controller: "berth.dev/binder", instance: "berth-binder-0" };
  const recorder = startEventRecorder({ connection, ...reporter, timing, ...options });
  afterTest(async () => {
    const stopped = recorder.stop();
    timing.pass(5_000);
    await stopped;
  });
  return { api, recorder, timing };
}

describe("an event", () => {
  it("has every field that the API server demands, in the pod's namespace (kubernetes #95913)", async () => {
    const { api, recorder } = await recorderTo();
    recorder.record(ASSIGNED);
    await expect.poll(() => recorder.state().sent).toBe(1);
    const { method, path, body } = api.arrived[0] ?? expect.fail("nothing arrived");
    expect(`${method} ${path}`).toBe(`POST ${EVENTS}`);
    expect(body).toEqual({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { namespace: "shop", name: expect.stringMatching(/^web-0\.[0-9a-f]{16}$/) },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "berth.dev/binder",
      reportingInstance: "berth-binder-0",
      action: "Binding",
      reason: "DeviceAssigned",
      type: "Normal",
      note: "Device 1 of node n1, 4 units",
      regarding: ASSIGNED.regarding,
    });
  });

  it("about an object of the cluster is in the namespace default", async () => {
    const { api, recorder } = await recorderTo();
    recorder.record({ ...ASSIGNED, regarding: { apiVersion: "v1", kind: "Node", name: "n1", uid: "u2" } });
    await expect.poll(() => recorder.state().sent).toBe(1);
    expect(api.arrived[0]?.path).toBe("/apis/events.k8s.io/v1/namespaces/default/events");
  });

  it("fits the limits of the API server however long its texts are", async () => {
    const { api, recorder } = await recorderTo(created, { instance: "i".repeat(300) });
    const regarding = { ...ASSIGNED.regarding, name: `${"n".repeat(200)}.${"m".repeat(52)}` };
    recorder.record({
      ...ASSIGNED,
      regarding,
      note: "ä".repeat(2000),
      reason: "R".repeat(200),
      action: "A".repeat(200),
    });
    await expect.poll(() => recorder.state().sent).toBe(1);
    const { body } = api.arrived[0] ?? expect.fail("nothing arrived");
    const bytes = (value: unknown): number => Buffer.byteLength(String(value));
    expect(bytes(body["note"])).toBeLessThanOrEqual(1024);
    for (const key of ["reason", "action", "reportingInstance"]) expect(bytes(body[key])).toBeLessThanOrEqual(128);
    const { name } = Object(body["metadata"]);
    expect(name.length).toBeLessThanOrEqual(253);
    expect(name).toMatch(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/);
  });

  it.each([
    ["a".repeat(1024), "a".repeat(1024)],
    ["a".repeat(1025), `${"a".repeat(1021)}…`],
    ["ä".repeat(600), `${"ä".repeat(510)}…`],
    [`a${"𝄞".repeat(300)}`, `a${"𝄞".repeat(255)}…`],
    ["\ud800", "\ufffd"],
  ])("is cut between characters, never inside of one (%#)", (text, expected) => {
    expect(cutText(text, 1024)).toBe(expected);
    expect(Buffer.byteLength(cutText(text, 1024))).toBeLessThanOrEqual(1024);
  });
});

describe("an event that repeats", () => {
  it("is one Event with a count that is written once in ten seconds", async () => {
    const { api, recorder, timing } = await recorderTo();
    recorder.record(ASSIGNED);
    await expect.poll(() => recorder.state().sent).toBe(1);
    for (let second = 1; second <= 9; second++) {
      timing.pass(1_000);
      recorder.record({ ...ASSIGNED });
    }
    expect(api.arrived).toHaveLength(1);
    timing.pass(2_000);
    await expect.poll(() => recorder.state()).toMatchObject({ sent: 2, aggregated: 9 });
    const [post, patch] = api.arrived;
    expect(patch?.method).toBe("PATCH");
    expect(patch?.path).toBe(`${EVENTS}/${Object(post?.body["metadata"])["name"]}`);
    expect(patch?.headers["content-type"]).toBe("application/merge-patch+json");
    expect(patch?.body).toEqual({ series: { count: 10, lastObservedTime: "2026-01-01T00:00:09.000000Z" } });
  });

  it("about another pod, or with another text, is another Event", async () => {
    const { api, recorder } = await recorderTo();
    recorder.record(ASSIGNED);
    recorder.record({ ...ASSIGNED, note: "Device 2 of node n1, 4 units" });
    recorder.record({ ...ASSIGNED, regarding: { ...ASSIGNED.regarding, uid: "u2" } });
    await expect.poll(() => recorder.state().sent).toBe(3);
    expect(api.arrived.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
  });

  it("after the window is a new Event", async () => {
    const { api, recorder, timing } = await recorderTo();
    recorder.record(ASSIGNED);
    await expect.poll(() => recorder.state().sent).toBe(1);
    timing.pass(600_000);
    recorder.record(ASSIGNED);
    await expect.poll(() => recorder.state().sent).toBe(2);
    expect(api.arrived.map(({ method }) => method)).toEqual(["POST", "POST"]);
  });

  it("is written anew, with its count, when the API server has forgotten it", async () => {
    const { api, recorder, timing } = await recorderTo();
    recorder.record(ASSIGNED);
    await expect.poll(() => recorder.state().sent).toBe(1);
    api.behave(({ method }, answer) => (method === "PATCH" ? refuse(answer, 404, "NotFound") : reply(answer, 201, {})));
    recorder.record(ASSIGNED);
    timing.pass(10_000);
    await expect.poll(() => recorder.state().sent).toBe(2);
    expect(api.arrived.at(-1)).toMatchObject({ method: "POST", body: { series: { count: 2 } } });
  });

  it("is written with its last count when the recorder stops", async () => {
    const { api, recorder } = await recorderTo();
    recorder.record(ASSIGNED);
    await expect.poll(() => recorder.state().sent).toBe(1);
    recorder.record(ASSIGNED);
    recorder.record(ASSIGNED);
    await recorder.stop();
    expect(api.arrived.at(-1)?.body).toMatchObject({ series: { count: 3 } });
  });
});

describe("an event that fails", () => {
  it("fails nobody, and is counted by the server's reason (kubernetes #95913)", async () => {
    const { api, recorder } = await recorderTo((_, answer) => refuse(answer, 422, "Invalid"));
    recorder.record(ASSIGNED);
    await expect.poll(() => recorder.state().failed).toEqual({ Invalid: 1 });
    api.behave((_, answer) => refuse(answer, 400, "BadRequest"));
    recorder.record({ ...ASSIGNED, note: "another" });
    await expect.poll(() => recorder.state().failed).toEqual({ Invalid: 1, BadRequest: 1 });
    expect(api.arrived).toHaveLength(2);
  });

  it.each([
    ["reset", ((_, answer) => answer.destroy()) satisfies Behaviour],
    ["timeout", (() => undefined) satisfies Behaviour],
    ["server", ((_, answer) => refuse(answer, 500, "InternalError")) satisfies Behaviour],
    // An API server that has just started refuses everybody until it has read the roles.
    ["Forbidden", ((_, answer) => refuse(answer, 403, "Forbidden")) satisfies Behaviour],
    ["TooManyRequests", ((_, answer) => refuse(answer, 429, "TooManyRequests")) satisfies Behaviour],
  ])("by %s is tried three times", async (label, behaviour) => {
    const { api, recorder, timing } = await recorderTo(behaviour);
    recorder.record(ASSIGNED);
    for (const tries of [1, 2]) {
      await expect.poll(() => [api.arrived.length, timing.waiting]).toEqual([tries, 1]);
      timing.pass(4_000);
    }
    await expect.poll(() => recorder.state().failed).toEqual({ [label]: 1 });
    expect(api.arrived).toHaveLength(3);
  });

  it("only by its lost answer is there once, and not counted as failed", async () => {
    let lost = false;
    const { api, recorder, timing } = await recorderTo((_, answer) => {
      if (lost) refuse(answer, 409, "AlreadyExists");
      else answer.destroy();
      lost = true;
    });
    recorder.record(ASSIGNED);
    await expect.poll(() => timing.waiting).toBe(1);
    timing.pass(1_000);
    await expect.poll(() => recorder.state()).toEqual({ sent: 1, aggregated: 0, queued: 0, failed: {} });
    const names = api.arrived.map(({ body }) => Object(body["metadata"])["name"]);
    expect(new Set(names).size).toBe(1);
  });

  it("because the queue is full is counted, and memory stays bounded while the server hangs", async () => {
    const { recorder } = await recorderTo(() => undefined, { queueLimit: 5 });
    for (let i = 0; i < 100; i++) recorder.record({ ...ASSIGNED, note: `number ${i}` });
    expect(recorder.state()).toMatchObject({ queued: 5, failed: { QueueFull: 87 } });
  });

  it("because it makes no sense, or comes after the end, throws at nobody", async () => {
    const { recorder } = await recorderTo();
    recorder.record({} as EventDraft);
    recorder.record({ ...ASSIGNED, note: undefined as unknown as string });
    await expect.poll(() => recorder.state().failed).toEqual({ Malformed: 2 });
    await recorder.stop();
    recorder.record(ASSIGNED);
    expect(recorder.state().failed).toEqual({ Malformed: 2, Stopped: 1 });
  });

  it("at the end is given up after five seconds, and what was waiting is counted", async () => {
    const { recorder, timing } = await recorderTo(() => undefined);
    for (let i = 0; i < 20; i++) recorder.record({ ...ASSIGNED, note: `number ${i}` });
    const stopped = recorder.stop();
    timing.pass(5_000);
    await stopped;
    expect(recorder.state()).toMatchObject({ queued: 0, failed: { Stopped: 12 } });
  });
});
