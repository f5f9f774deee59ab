import type { AnyPlugin } from "./plugin.ts";
import { gpuMemory } from "./plugins/gpu-memory.ts";
import { nodeAffinity } from "./plugins/node-affinity.ts";
import { nodeCost } from "./plugins/node-cost.ts";
import { nodeLabel } from "./plugins/node-label.ts";
import { nodeName } from "./plugins/node-name.ts";
import { nodePorts } from "./plugins/node-ports.ts";
import { nodeResourcesBalancedAllocation } from "./plugins/node-resources-balanced-allocation.ts";
import { nodeResourcesFit } from "./plugins/node-resources-fit.ts";
import { nodeUnschedulable } from "./plugins/node-unschedulable.ts";
import { nodeZone } from "./plugins/node-zone.ts";
import { random } from "./plugins/random.ts";
import { taintToleration } from "./plugins/taint-toleration.ts";

/** Every plugin there is: to add one, write its file and its test, and name it here. */
export const registry: readonly AnyPlugin[] = [
  gpuMemory,
  nodeAffinity,
  nodeCost,
  nodeLabel,
  nodeName,
  nodePorts,
  nodeResourcesBalancedAllocation,
  nodeResourcesFit,
  nodeUnschedulable,
  nodeZone,
  random,
  taintToleration,
];
