import { describe, expect, it } from "vitest";
import type { EventDraft } from "../cluster/event-object.ts";
import { createLateBindings } from "./late.ts";
import { testPod } from "./scheduler-fixture.ts";

function setUp() {
  const events: EventDraft[] = [];
  const late = createLateBindings("me", (event) => events.push(event));
  const shown = (by: string) => late.shown(testPod("a", { node: "one", annotations: { "berth.dev/bound-by": by } }));
  return { late, shown, notes: () => events.map(({ note }) => note) };
}

const TOLD = "Successfully assigned default/a to one";

const DEVICE = "Device 1 of node one: 4 aliyun.com/gpu-mem";

/** A pod that has reached node `one` with four units of device 1, by a Binding of this process. */
function withDevice() {
  const annotations = {
    "berth.dev/bound-by": "me",
    ALIYUN_COM_GPU_MEM_IDX: "1",
    ALIYUN_COM_GPU_MEM_POD: "4",
    ALIYUN_COM_GPU_MEM_ASSUME_TIME: "1",
  };
  const containers = [{ name: "app", resources: { limits: { "aliyun.com/gpu-mem": "4" } } }];
  return testPod("a", { node: "one", annotations, spec: { containers } });
}

describe("a Binding that took effect though no answer said so", () => {
  it("is told of when the watch shows the pod on its node, and once", () => {
    const { late, shown, notes } = setUp();
    late.doubt("a");
    late.shown(testPod("a"));
    expect(notes()).toEqual([]);
    shown("me");
    shown("me");
    late.confirmed(testPod("a"), "one");
    expect(notes()).toEqual([TOLD]);
  });

  it("is told of with its device, whoever finds it out, and once", () => {
    for (const first of ["shown", "confirmed"] as const) {
      const { late, notes } = setUp();
      late.doubt("a");
      const ways = {
        shown: () => late.shown(withDevice()),
        confirmed: () => late.confirmed(testPod("a"), "one", { device: "1", amount: 4n }),
      };
      ways[first]();
      ways.shown();
      ways.confirmed();
      expect(notes()).toEqual([DEVICE, TOLD]);
    }
  });

  it("is told of by whoever finds it out first", () => {
    const { late, shown, notes } = setUp();
    late.doubt("a");
    late.confirmed(testPod("a"), "one");
    late.doubt("a");
    shown("me");
    expect(notes()).toEqual([TOLD]);
  });

  it("is not told of when it was another's, or when nothing was in doubt", () => {
    const { late, shown, notes } = setUp();
    shown("me");
    late.doubt("a");
    shown("other");
    expect(notes()).toEqual([]);
  });
});
