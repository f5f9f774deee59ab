import * as z from "zod";
import { definePlugin, type Rejection } from "../../src/policy/plugin.ts";
import { nodeLabels, podLabels } from "../../src/policy/views/labels.ts";

const PARTNER = "example.com/partner";
const ZONE = "topology.kubernetes.io/zone";

/** Measured round trips in milliseconds. No cluster knows them; they change with a deploy of the function. */
const MILLISECONDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  acquirer: { "eu-central-1a": 2, "eu-central-1b": 3, "eu-north-1a": 24 },
  carrier: { "eu-central-1a": 31, "eu-central-1b": 30, "eu-north-1a": 4 },
};

const TOO_FAR: Rejection = { reason: "node(s) were too far from the pod's partner", unresolvable: true };

/** Places pods near the partner that they talk to. */
export const nearPartner = definePlugin({
  name: "NearPartner",
  version: 1,
  doc: "Prefers zones close to the partner that the pod's label example.com/partner names, and refuses those too far away.",
  maturity: "alpha",
  args: z.strictObject({
    farthest: z.number().positive().default(25).meta({ description: "the longest round trip in milliseconds" }),
  }),
  scale: "range-reversed",
  // Slow facts only, so its answers may be remembered: binders ask once for pods and nodes that are alike in these.
  reads: () => ({ pod: { labels: podLabels }, node: { labels: nodeLabels([ZONE]) } }),
  prepare: ({ farthest }, pod) => {
    const zones = MILLISECONDS[pod.labels[PARTNER] ?? ""];
    if (!zones) return {};
    const away = (labels: Readonly<Record<string, string>>): number | undefined => zones[labels[ZONE] ?? ""];
    return {
      filter: ({ labels }) => ((away(labels) ?? Number.POSITIVE_INFINITY) > farthest ? TOO_FAR : undefined),
      score: ({ labels }) => away(labels),
    };
  },
});
