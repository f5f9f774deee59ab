import type { AnyPlugin } from "./plugin.ts";
import { gpuMemory } from "./plugins/gpu-memory.ts";
import { nodeCost } from "./plugins/node-cost.ts";
import { nodeLabel } from "./plugins/node-label.ts";
import { nodeZone } from "./plugins/node-zone.ts";
import { random } from "./plugins/random.ts";

/** Every plugin there is: to add one, write its file and its test, and name it here. */
export const registry: readonly AnyPlugin[] = [gpuMemory, nodeCost, nodeLabel, nodeZone, random];
