import { describe, expect, test } from "vitest";
import { nearPartner } from "./near-partner.ts";

const ZONES = ["eu-central-1a", "eu-central-1b", "eu-north-1a", "ap-east-1a"];

function judged(partner: string | undefined, farthest = 25) {
  const labels = partner === undefined ? {} : { "example.com/partner": partner };
  const judge = nearPartner.prepare({ farthest }, { labels }, {});
  return ZONES.map((zone) => {
    const node = { labels: { "topology.kubernetes.io/zone": zone } };
    return judge.filter?.(node)?.reason ?? judge.score?.(node);
  });
}

const TOO_FAR = "node(s) were too far from the pod's partner";

describe("NearPartner", () => {
  test("scores nodes by the round trip to the pod's partner", () => {
    expect(judged("acquirer")).toEqual([2, 3, 24, TOO_FAR]);
  });

  test("refuses nodes farther away than the argument allows, and in zones of which nothing is known", () => {
    expect(judged("carrier", 10)).toEqual([TOO_FAR, TOO_FAR, 4, TOO_FAR]);
  });

  test("has nothing to say of pods without a partner or with one that nobody has measured", () => {
    expect([judged(undefined), judged("stranger")]).toEqual([Array(4).fill(undefined), Array(4).fill(undefined)]);
  });
});
