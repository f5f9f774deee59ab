import type { JsonObject } from "../protocol/json.ts";
import { cutDown, pathTree } from "../protocol/paths.ts";

/**
 * Gives what a pod says at some places, as text: pods of one template say the same at most. The name, which every tree
 * of paths has, is among it only if it is asked for.
 */
export function podText(paths: readonly string[]): (pod: JsonObject) => string {
  const tree = pathTree(paths);
  const named = paths.some((path) => path === "metadata" || path === "metadata.name");
  return (pod) => {
    const part = cutDown(pod, tree);
    return JSON.stringify(named ? part : { ...part, metadata: { ...(part["metadata"] as JsonObject), name: "" } });
  };
}
