import { Unreadable, type View } from "../view.ts";
import { nodeAllocatable } from "./allocatable.ts";
import { type Counts, counts, countsOf } from "./counts.ts";

/** What the node can give to pods, as numbers; of the resources that kube-scheduler counts, and `pods`. */
export const nodeRoom: View<Counts> = {
  name: "nodeRoom",
  of: "node",
  pace: "slow",
  doc: "What the node can give to pods, as numbers: cpu in millicores, memory in bytes, pods and others in units.",
  paths: nodeAllocatable.paths,
  fact: counts,
  read: (node, now) => {
    const amounts = nodeAllocatable.read?.(node, now);
    return amounts instanceof Unreadable ? amounts : countsOf(amounts ?? {});
  },
};
