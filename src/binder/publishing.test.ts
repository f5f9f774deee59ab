import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { gpuClaim } from "../placement/gpu-fixture.ts";
import type { Devices } from "../policy/views/devices.ts";
import { watch } from "./binder-fixture.ts";
import { trimConditions } from "./published.ts";
import { startPublishing } from "./publishing.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function publishing(leads = true) {
  const watched = watch();
  const written: [string, Devices][] = [];
  const answers: (string | undefined)[] = [];
  const publisher = startPublishing({
    state: watched.state,
    isLeader: () => leads,
    publish: async (node, devices) => {
      written.push([node, devices]);
      return answers.shift();
    },
    log: () => undefined,
  });
  return { watched, written, answers, publisher };
}

const used = ([, { devices }]: [string, Devices]) => devices["aliyun.com/gpu-mem"]?.map((device) => device.used);

describe("publishing who holds a node's devices", () => {
  it("writes what pods and promises hold, once for changes that follow closely, under a growing generation", async () => {
    const { watched, written } = publishing();
    watched.node("gpu-1", [2, 20]);
    watched.ledger("gpu-1", [gpuClaim("promised", 1, 3)]);
    watched.pod({ uid: "a", gpu: 6, node: "gpu-1", device: 0 });
    watched.pod({ uid: "b", gpu: 2, node: "gpu-1", device: 0 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written.map(used)).toEqual([[8n, 3n]]);
    watched.podGone(watched.pod({ uid: "b", gpu: 2, node: "gpu-1", device: 0 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written.map(used)).toEqual([
      [8n, 3n],
      [6n, 3n],
    ]);
    expect(written.map(([, { generation }]) => generation)).toEqual([1, 2]);
  });

  it("writes nothing when nothing has changed, and tries again what could not be written", async () => {
    const { watched, written, answers, publisher } = publishing();
    answers.push("forbidden");
    watched.node("gpu-1", [1, 10]);
    for (let round = 0; round < 3; round++) {
      publisher.review();
      await vi.advanceTimersByTimeAsync(5_000);
    }
    expect(written).toHaveLength(2);
  });

  it("writes at most 20 nodes a second", async () => {
    const { watched, written } = publishing();
    for (let index = 0; index < 100; index++) watched.node(`gpu-${index}`, [1, 10]);
    await vi.advanceTimersByTimeAsync(500);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written.length).toBeGreaterThan(15);
    expect(written.length).toBeLessThanOrEqual(21);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toHaveLength(100);
  });

  it("says nothing of nodes without devices, and nothing at all while another binder leads", async () => {
    const { watched, written } = publishing();
    watched.node("plain");
    watched.pod({ uid: "a", gpu: 6, node: "plain" });
    const other = publishing(false);
    other.watched.node("gpu-1", [1, 10]);
    other.publisher.review();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([written, other.written]).toEqual([[], []]);
  });
});

describe("a node as the binder keeps it", () => {
  it("has no other condition than its own", () => {
    const conditions = [{ type: "Ready" }, { type: "BerthPublished", message: "{}" }];
    expect(trimConditions({ metadata: { name: "a" }, status: { capacity: {}, conditions } })).toEqual({
      metadata: { name: "a" },
      status: { capacity: {}, conditions: [{ type: "BerthPublished", message: "{}" }] },
    });
    expect(trimConditions({ metadata: { name: "a" } })).toEqual({ metadata: { name: "a" } });
  });
});
