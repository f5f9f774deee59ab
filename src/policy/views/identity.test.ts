import { expect, test } from "vitest";
import { Unreadable } from "../view.ts";
import { nodeName, podIdentity, podNamespace, podUid } from "./identity.ts";

test("a node has a name, and cannot be read without", () => {
  expect(nodeName.read?.({ metadata: { name: "node-1" } }, 0)).toBe("node-1");
  for (const nameless of [{}, { metadata: null }, { metadata: { name: "" } }, { metadata: { name: 5 } }]) {
    expect(nodeName.read?.(nameless, 0)).toEqual(new Unreadable("metadata.name", "is missing"));
  }
});

test("a pod is told by namespace, name and UID", () => {
  const pod = { metadata: { namespace: "shop", name: "web-1", uid: "u-1" } };
  expect(podIdentity.read?.(pod, 0)).toEqual({ namespace: "shop", name: "web-1", uid: "u-1" });
  expect(podUid.read?.(pod, 0)).toBe("u-1");
  expect(podNamespace.read?.(pod, 0)).toBe("shop");
});

test("a pod from a file, before any API server has seen it, has no UID and the namespace default", () => {
  const pod = { metadata: { generateName: "web-" } };
  expect(podIdentity.read?.(pod, 0)).toEqual({ namespace: "default", name: "", uid: "" });
  expect(podUid.read?.(pod, 0)).toBe("");
});

test("what tells one pod from another is fast, so nothing is remembered by it", () => {
  expect([podUid.pace, podIdentity.pace, podNamespace.pace]).toEqual(["fast", "fast", "slow"]);
});
