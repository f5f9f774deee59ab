import { expect, it } from "vitest";
import { nodeName } from "./node-name.ts";

const filterFor = (wanted: string) => nodeName.prepare({}, { wanted }, {}).filter;

it("refuses every node but the one that the pod names, for good", () => {
  expect(filterFor("a")?.({ name: "a" })).toBeUndefined();
  expect(filterFor("a")?.({ name: "b" })).toEqual({
    reason: "node(s) didn't match the requested node name",
    unresolvable: true,
  });
});

it("has nothing to say of a pod that names no node", () => {
  expect(filterFor("")).toBeUndefined();
});
