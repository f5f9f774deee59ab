import * as z from "zod";
import { definePlugin, type Rejection } from "../plugin.ts";
import { conflicts, podHostPorts } from "../views/host-ports.ts";
import { nodeUsage } from "../views/node-usage.ts";

const TAKEN: Rejection = {
  reason: "node(s) didn't have free ports for the requested pod ports",
  unresolvable: false,
};

/** As kube-scheduler's plugin of the name: plugins/nodeports, v1.37.2. */
export const nodePorts = definePlugin({
  name: "NodePorts",
  version: 1,
  doc:
    "Keeps a pod off nodes where another pod has a host port that it asks for, on the same address and protocol. " +
    "It needs to know the pods of each node, so it works where the cluster is watched.",
  maturity: "beta",
  args: z.strictObject({}),
  reads: () => ({ pod: { wanted: podHostPorts }, node: { usage: nodeUsage } }),
  prepare: (_, { wanted }) =>
    wanted.length === 0 ? {} : { filter: ({ usage }) => (conflicts(wanted, usage.ports) ? TAKEN : undefined) },
});
