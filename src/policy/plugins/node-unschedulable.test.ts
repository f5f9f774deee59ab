import { expect, it } from "vitest";
import type { Toleration } from "../views/tolerations.ts";
import { nodeUnschedulable } from "./node-unschedulable.ts";

const filterFor = (...tolerations: Partial<Toleration>[]) =>
  nodeUnschedulable.prepare(
    {},
    { tolerations: tolerations.map((each) => ({ key: "", operator: "", value: "", effect: "", ...each })) },
    {},
  ).filter;

it("refuses a cordoned node, for good, and keeps the others", () => {
  expect(filterFor()?.({ cordoned: true })).toEqual({ reason: "node(s) were unschedulable", unresolvable: true });
  expect(filterFor()?.({ cordoned: false })).toBeUndefined();
});

it("lets pods pass that tolerate the taint of cordoned nodes, as those of DaemonSets do", () => {
  const key = "node.kubernetes.io/unschedulable";
  expect(filterFor({ key, operator: "Exists", effect: "NoSchedule" })).toBeUndefined();
  expect(filterFor({ operator: "Exists" })).toBeUndefined();
  expect(filterFor({ key, operator: "Exists", effect: "NoExecute" })?.({ cordoned: true })).toBeDefined();
  expect(filterFor({ key, value: "x" })?.({ cordoned: true })).toBeDefined();
});
