import type { Connection } from "../cluster/connection.ts";
import { patchObject } from "../cluster/patch.ts";
import { NODES, objectPath } from "../cluster/resources.ts";
import { conditionPatch } from "./published.ts";
import type { PublishingOptions } from "./publishing.ts";
import { WAKE_ANNOTATION, type WakingOptions } from "./waking.ts";

/** Writes the annotation that wakes pods. */
export function toucher(connection: Connection): WakingOptions["touch"] {
  return async (name) => {
    const patch = { metadata: { annotations: { [WAKE_ANNOTATION]: new Date().toISOString() } } };
    const answer = await patchObject(connection, { resource: NODES, name, patch, statusOnly: true });
    return answer.kind === "ok" ? undefined : answer.message;
  };
}

/** Writes the condition that tells of a node's devices. */
export function publisherOn(connection: Connection): PublishingOptions["publish"] {
  return async (name, devices) => {
    const answer = await connection.call({
      method: "PATCH",
      path: objectPath(NODES, { name }, "status"),
      contentType: "application/strategic-merge-patch+json",
      body: conditionPatch(devices, Date.now()),
      statusOnly: true,
    });
    return answer.kind === "ok" ? undefined : answer.message;
  };
}
