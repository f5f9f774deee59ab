import { describe, expect, it } from "vitest";
import { zones } from "../views/fleet.ts";
import { nodeZone } from "./node-zone.ts";

const around = { zones: zones.fact.parse({ a: { carbon: 340 }, b: { carbon: 40 }, c: { closed: true } }) };
const judge = nodeZone.prepare({}, {}, around);
const inZone = (zone: string) => ({ labels: { "topology.kubernetes.io/zone": zone } });

describe("NodeZone", () => {
  it("refuses nodes in a closed zone, for good", () => {
    expect(judge.filter?.(inZone("c"))).toEqual({
      reason: "node(s) were in a zone that is closed to new pods",
      unresolvable: true,
    });
  });

  it("keeps nodes in open zones, in zones nobody spoke of, and without a zone", () => {
    for (const node of [inZone("a"), inZone("unknown"), inZone("constructor"), { labels: {} }]) {
      expect(judge.filter?.(node)).toBeUndefined();
    }
  });

  it("scores a zone by the carbon intensity of its power, lower being better, and an unknown one lowest", () => {
    expect(nodeZone.scale).toBe("range-reversed");
    expect([inZone("a"), inZone("b"), inZone("x")].map((node) => judge.score?.(node))).toEqual([340, 40, undefined]);
  });
});
