import type { PlacedNode, PlacedPod } from "../placement/model.ts";
import { placedNode, placedPod } from "../placement/placed.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { QueueTiming } from "./backoff.ts";

/** A clock that goes only when it is told to. */
export interface StillTiming extends QueueTiming {
  /** Lets so many milliseconds pass; what is due then runs, in order. */
  pass(ms: number): void;
}

/** Starts at 0. */
export function stillTiming(): StillTiming {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    elapsed: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
    },
  };
}

/** What a pod of a test is like. */
export interface TestPod {
  readonly priority?: number;
  readonly created?: string;
  readonly node?: string;
  readonly cpu?: string;
  readonly spec?: JsonObject;
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
}

/** A pod for the scheduler `berth`; its UID is its name. */
export function testPod(name: string, { priority = 0, created, node, cpu = "1", ...more }: TestPod = {}): PlacedPod {
  return placedPod({
    metadata: {
      ...{ name, namespace: "default", uid: name, creationTimestamp: created ?? "2026-01-01T00:00:00Z" },
      ...(more.labels && { labels: more.labels }),
      ...(more.annotations && { annotations: more.annotations }),
    },
    spec: {
      ...{ schedulerName: "berth", priority, containers: [{ name: "app", resources: { requests: { cpu } } }] },
      ...(node !== undefined && { nodeName: node }),
      ...more.spec,
    },
  });
}

/** A node with room for four pods of one CPU. */
export function testNode(name: string, { zone = "a", cpu = "4" } = {}): PlacedNode {
  const labels = { "topology.kubernetes.io/zone": zone };
  const allocatable = { cpu, memory: "8Gi", pods: "110" };
  return placedNode({ metadata: { name, uid: name, labels }, spec: {}, status: { allocatable } }, new Set());
}
