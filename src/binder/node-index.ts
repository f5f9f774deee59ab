import type { Log } from "../extender/log.ts";
import { nodeOfConfigMap, UNHEALTHY_NAMESPACE, unhealthyConfigMap, unhealthyDevices } from "../placement/gpushare.ts";
import type { PlacedNode } from "../placement/model.ts";
import { placedNode } from "../placement/placed.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { createArrivals } from "./arrivals.ts";
import type { Objects, Sources } from "./objects.ts";

/** The nodes with their devices as they are now. */
export interface NodeIndex {
  get(name: string): PlacedNode | undefined;
  values(): Iterable<PlacedNode>;
  /** The node, also when it becomes known within so many milliseconds only. */
  wait(name: string, ms: number): Promise<PlacedNode | undefined>;
  /** Hears the name of every node that goes. */
  onGone(hear: (name: string) => void): void;
  /** Hears of every node whose devices are new or have changed; `healed`: there are more healthy ones than before. */
  onDevices(hear: (node: PlacedNode, healed: boolean) => void): void;
  /** Hears the name of every node that comes after somebody has waited for it in vain. */
  onLate(hear: (name: string) => void): void;
}

/** Follows the nodes, and what is said of their unhealthy devices, for as long as the program runs. */
export function indexNodes({ nodes, unhealthy }: Pick<Sources, "nodes" | "unhealthy">, log: Log): NodeIndex {
  const known = new Map<string, PlacedNode>();
  const arrivals = createArrivals();
  const gone = new Set<(name: string) => void>();
  const changed = new Set<(node: PlacedNode, healed: boolean) => void>();
  const read = (object: JsonObject): void => {
    const name = nameOf(object);
    const [before, node] = [known.get(name), placedNode(object, idsOf(unhealthy, name))];
    known.set(name, node);
    arrivals.came(name);
    if (devicesText(before) === devicesText(node)) return;
    for (const hear of changed) hear(node, before !== undefined && healthyOf(node) > healthyOf(before));
  };
  const again = (configMap: JsonObject): void => {
    const name = nodeOfConfigMap(configMap);
    const node = name === undefined ? undefined : nodes.get(name);
    if (node !== undefined) read(node);
  };
  const heard = (configMap: JsonObject): void => {
    for (const problem of unhealthyDevices(configMap).problems) log("warn", problem);
    again(configMap);
  };
  unhealthy.subscribe({ add: heard, update: heard, delete: again });
  nodes.subscribe({
    add: read,
    update: read,
    delete: (object) => {
      known.delete(nameOf(object));
      for (const hear of gone) hear(nameOf(object));
    },
  });
  return {
    get: (name) => known.get(name),
    values: () => known.values(),
    async wait(name, ms) {
      if (!known.has(name)) await arrivals.wait(name, ms);
      return known.get(name);
    },
    onGone: (hear) => void gone.add(hear),
    onDevices: (hear) => void changed.add(hear),
    onLate: arrivals.onLate,
  };
}

/** Tells device lists apart; a node without any is like one that is not there. */
function devicesText(node: PlacedNode | undefined): string {
  return (node?.devices ?? []).map(({ id, total, healthy }) => `${id}:${total}:${healthy}`).join();
}

function healthyOf({ devices }: PlacedNode): number {
  return devices.filter(({ healthy }) => healthy).length;
}

function idsOf(unhealthy: Objects, node: string): ReadonlySet<string> {
  return unhealthyDevices(unhealthy.get(unhealthyConfigMap(node), UNHEALTHY_NAMESPACE)).ids;
}

function nameOf(object: JsonObject): string {
  const name = field(field(object, "metadata"), "name");
  return typeof name === "string" ? name : "";
}
