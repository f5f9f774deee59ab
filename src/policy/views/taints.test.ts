import { expect, test } from "vitest";
import { Unreadable } from "../view.ts";
import { taints, unschedulable } from "./taints.ts";

test("taints are read in order, without the time they were added", () => {
  const node = {
    spec: {
      taints: [
        { key: "type", value: "batch", effect: "NoSchedule" },
        { key: "node.kubernetes.io/not-ready", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" },
        { key: "a", value: null, effect: "PreferNoSchedule" },
      ],
    },
  };
  expect(taints.read?.(node, 0)).toEqual([
    { key: "type", value: "batch", effect: "NoSchedule" },
    { key: "node.kubernetes.io/not-ready", value: "", effect: "NoExecute" },
    { key: "a", value: "", effect: "PreferNoSchedule" },
  ]);
});

test.each([[{}], [{ spec: null }], [{ spec: { taints: null } }], [{ spec: { taints: [] } }]])(
  "a node without taints has none and is not cordoned: %j",
  (node) => {
    expect(taints.read?.(node, 0)).toEqual([]);
    expect(unschedulable.read?.(node, 0)).toBe(false);
  },
);

test("a taint that cannot be understood is not passed over", () => {
  const problem = "is not a taint with key and effect";
  const good = { key: "a", effect: "NoSchedule" };
  for (const bad of [null, "a=b:NoSchedule", { key: "a" }, { effect: "NoSchedule" }, { ...good, value: 5 }]) {
    expect(taints.read?.({ spec: { taints: [good, bad] } }, 0)).toEqual(new Unreadable("spec.taints[1]", problem));
  }
  expect(taints.read?.({ spec: { taints: {} } }, 0)).toEqual(new Unreadable("spec.taints", "is not a list"));
});

test("a cordoned node says so, and an odd value is not guessed at", () => {
  expect(unschedulable.read?.({ spec: { unschedulable: true } }, 0)).toBe(true);
  expect(unschedulable.read?.({ spec: { unschedulable: "true" } }, 0)).toEqual(
    new Unreadable("spec.unschedulable", "is neither true nor false"),
  );
});
