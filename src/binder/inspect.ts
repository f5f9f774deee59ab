import { type Inspection, inspectNode, inspectUnknown } from "../placement/inspect.ts";
import type { State } from "./state.ts";

/** Who holds which device: of one node, or of every node that has devices. */
export function inspect(state: State, name?: string): Inspection {
  if (name !== undefined) {
    const node = state.nodes.get(name);
    return node === undefined ? inspectUnknown(name) : { nodes: [inspectNode(node, state.usage(node))] };
  }
  const shared = [...state.nodes.values()].filter(({ devices }) => devices.length > 0);
  return { nodes: shared.map((node) => inspectNode(node, state.usage(node))) };
}
