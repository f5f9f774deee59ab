import { expect, test } from "vitest";
import { Unreadable } from "../view.ts";
import { nodeAnnotations, nodeLabels, podAnnotations, podLabels } from "./labels.ts";

const node = {
  metadata: { labels: { zone: "eu-1", arch: "arm64", host: "a" }, annotations: { note: "", "a/b": "c" } },
};

test("all labels and annotations of a pod and a node can be read", () => {
  expect(nodeLabels().read?.(node, 0)).toEqual({ zone: "eu-1", arch: "arm64", host: "a" });
  expect(nodeAnnotations().read?.(node, 0)).toEqual({ note: "", "a/b": "c" });
  expect(podLabels.read?.(node, 0)).toEqual({ zone: "eu-1", arch: "arm64", host: "a" });
  expect(podAnnotations.read?.(node, 0)).toEqual({ note: "", "a/b": "c" });
});

test("the copy of a pod that kubectl apply leaves in an annotation is no fact", () => {
  const pod = {
    metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", other: "stays" } },
  };
  expect(podAnnotations.read?.(pod, 0)).toEqual({ other: "stays" });
});

test("narrowed to some keys, nodes that differ in other labels read alike", () => {
  const other = { metadata: { labels: { zone: "eu-1", host: "b" } } };
  const zone = nodeLabels(["zone", "absent"]);
  expect(zone.read?.(node, 0)).toEqual({ zone: "eu-1" });
  expect(zone.read?.(other, 0)).toEqual(zone.read?.(node, 0));
});

test("the keys are in the view's name, so that equal names mean equal facts", () => {
  expect(nodeLabels(["b", "a", "b"]).name).toBe("nodeLabels(a,b)");
  expect(nodeLabels(["a", "b"]).name).toBe(nodeLabels(["b", "a"]).name);
  expect(nodeLabels().name).toBe("nodeLabels");
  expect(nodeAnnotations([]).name).toBe("nodeAnnotations()");
});

test("values that are no strings are no labels", () => {
  const odd = { metadata: { labels: { a: 1, b: null, c: true, d: ["x"], e: "kept" } } };
  expect(nodeLabels().read?.(odd, 0)).toEqual({ e: "kept" });
  expect(nodeLabels(["a", "e"]).read?.(odd, 0)).toEqual({ e: "kept" });
});

test("the members that every object has are not labels", () => {
  const labels = nodeLabels(["constructor", "__proto__", "toString"]).read?.(node, 0);
  expect(labels).toEqual({});
  expect(labels instanceof Unreadable ? undefined : labels?.["constructor"]).toBeUndefined();
});

test.each([[undefined], [null], [{}], [{ metadata: null }], [{ metadata: { labels: null } }]])(
  "a node without labels has none: %j",
  (bare) => {
    expect(nodeLabels().read?.(bare ?? {}, 0)).toEqual({});
  },
);

test("labels that are no map cannot be read", () => {
  expect(nodeLabels(["a"]).read?.({ metadata: { labels: ["a"] } }, 0)).toEqual(
    new Unreadable("metadata.labels", "is not a map"),
  );
});
