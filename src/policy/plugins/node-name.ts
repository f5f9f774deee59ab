import * as z from "zod";
import { definePlugin, type Rejection } from "../plugin.ts";
import { nodeName as nameOfNode, podNodeName } from "../views/identity.ts";

const OTHER: Rejection = { reason: "node(s) didn't match the requested node name", unresolvable: true };

/** As kube-scheduler's plugin of the name: plugins/nodename, v1.37.2. */
export const nodeName = definePlugin({
  name: "NodeName",
  version: 1,
  doc:
    "Keeps only the node that the pod's spec.nodeName names, and every node for a pod that names none. For profiles " +
    "that list kube-scheduler's own plugins; a scheduler is not asked about pods that have their node already.",
  maturity: "beta",
  args: z.strictObject({}),
  reads: () => ({ pod: { wanted: podNodeName }, node: { name: nameOfNode } }),
  prepare: (_, { wanted }) => (wanted === "" ? {} : { filter: ({ name }) => (name === wanted ? undefined : OTHER) }),
});
