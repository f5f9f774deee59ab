import * as z from "zod";
import { definePlugin, type Rejection } from "../plugin.ts";
import { zones } from "../views/fleet.ts";
import { nodeLabels } from "../views/labels.ts";

const ZONE = "topology.kubernetes.io/zone";

const CLOSED: Rejection = { reason: "node(s) were in a zone that is closed to new pods", unresolvable: true };

/** Keeps pods out of closed zones and prefers zones with cleaner power. */
export const nodeZone = definePlugin({
  name: "NodeZone",
  version: 1,
  doc:
    "Refuses nodes in zones that the facts of the fleet call closed, and prefers zones whose power emits less carbon. " +
    "For leaving a zone without touching a cluster, and for work that may run wherever the power is cleanest.",
  maturity: "beta",
  args: z.strictObject({}),
  scale: "range-reversed",
  reads: () => ({ node: { labels: nodeLabels([ZONE]) }, around: { zones } }),
  prepare: (_args, _pod, { zones }) => ({
    filter: ({ labels }) => (zones[labels[ZONE] ?? ""]?.closed ? CLOSED : undefined),
    score: ({ labels }) => zones[labels[ZONE] ?? ""]?.carbon,
  }),
});
