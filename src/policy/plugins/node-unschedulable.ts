import * as z from "zod";
import { definePlugin, type Rejection } from "../plugin.ts";
import { type Taint, unschedulable } from "../views/taints.ts";
import { podTolerations, tolerates } from "../views/tolerations.ts";

const CORDONED: Rejection = { reason: "node(s) were unschedulable", unresolvable: true };

/** The taint that a cordoned node is treated as if it had. */
const AS_TAINT: Taint = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" };

/** As kube-scheduler's plugin of the name: plugins/nodeunschedulable, v1.37.2. */
export const nodeUnschedulable = definePlugin({
  name: "NodeUnschedulable",
  version: 1,
  doc:
    "Keeps pods off cordoned nodes (spec.unschedulable), unless the pod tolerates the taint " +
    "node.kubernetes.io/unschedulable with effect NoSchedule, as pods of DaemonSets do.",
  maturity: "beta",
  args: z.strictObject({}),
  reads: () => ({ pod: { tolerations: podTolerations }, node: { cordoned: unschedulable } }),
  prepare: (_, { tolerations }) =>
    tolerates(tolerations, AS_TAINT) ? {} : { filter: ({ cordoned }) => (cordoned ? CORDONED : undefined) },
});
