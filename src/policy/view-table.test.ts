import { describe, expect, test } from "vitest";
import { registry } from "./registry.ts";
import type { View } from "./view.ts";
import { viewByName } from "./view-table.ts";
import { nodeAnnotations, nodeLabels } from "./views/labels.ts";

const facts = {
  apiVersion: "berth.dev/v1alpha1",
  kind: "FleetFacts",
  prices: [{ match: { "node.kubernetes.io/instance-type": "m6i.xlarge" }, perHour: 1 }],
} as const;

describe("Views by their names", () => {
  test("every view that a plugin reads is found by its name and is the same", () => {
    const read = registry.flatMap((plugin): View<unknown>[] => {
      const { pod = {}, node = {}, around = {} } = plugin.reads(plugin.args.parse({}), facts as never);
      return [pod, node, around].flatMap((part) => Object.values(part));
    });
    expect(read.length).toBeGreaterThan(5);
    // Views that only a watched cluster can tell have no name that travels.
    for (const view of read.filter((each) => each.read !== undefined)) {
      expect(viewByName(view.name), view.name).toMatchObject({ name: view.name, of: view.of, paths: view.paths });
    }
  });

  test.each([nodeLabels(), nodeLabels([]), nodeLabels(["kubernetes.io/arch", "constructor"]), nodeAnnotations(["a"])])(
    "$name reads the same labels as the view that bears the name",
    (view) => {
      const node = { metadata: { labels: { "kubernetes.io/arch": "arm64", a: "b" }, annotations: { a: "c", d: "e" } } };
      const found = viewByName(view.name);
      expect(found?.name).toBe(view.name);
      expect(found?.read?.(node, 0)).toEqual(view.read?.(node, 0));
    },
  );

  test.each(["nodeMood", "constructor", "constructor(a)", "podLabels(a)", ""])("%o is no view", (name) => {
    expect(viewByName(name)).toBeUndefined();
  });
});
