import * as z from "zod";
import { definePlugin, type Rejection } from "../plugin.ts";
import { type Taint, taints } from "../views/taints.ts";
import { podTolerations, type Toleration, tolerates } from "../views/tolerations.ts";

const TAINTED: Rejection = { reason: "node(s) had untolerated taint(s)", unresolvable: true };

/** As kube-scheduler's plugin of the name: plugins/tainttoleration, v1.37.2. */
export const taintToleration = definePlugin({
  name: "TaintToleration",
  version: 1,
  doc:
    "Keeps pods off nodes with taints of effect NoSchedule or NoExecute that they do not tolerate, and prefers nodes " +
    "with fewer untolerated taints of effect PreferNoSchedule. The tolerations' operators Lt and Gt, an alpha feature " +
    "of Kubernetes, tolerate nothing.",
  maturity: "beta",
  args: z.strictObject({}),
  scale: "max-reversed",
  reads: () => ({ pod: { tolerations: podTolerations }, node: { on: taints } }),
  prepare: (_, { tolerations }) => ({
    filter: ({ on }) => (on.some((taint) => forbids(taint, tolerations)) ? TAINTED : undefined),
    score: ({ on }) => on.filter((taint) => deters(taint, tolerations)).length,
  }),
});

function forbids(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !tolerates(tolerations, taint);
}

function deters(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return taint.effect === "PreferNoSchedule" && !tolerates(tolerations, taint);
}
