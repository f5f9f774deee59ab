import type { PlacedNode } from "../placement/model.ts";
import { devicesOf, usageOf } from "../placement/usage.ts";
import type { Known } from "../policy/view.ts";
import { type Devices, devices, devicesMessage, PUBLISHED_CONDITION } from "../policy/views/devices.ts";
import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import type { State } from "./state.ts";

/** What a node's condition says now, as last seen. */
export function publishedDevices({ object }: PlacedNode): Known<Devices> {
  const read = devices.read?.(object, 0);
  return read !== undefined && ("value" in read || "unknown" in read) ? read : { unknown: "unreadable" };
}

/** What it should say: who holds what, by pods that are bound and by promises, but for the generation. */
export function devicesToPublish(state: State, node: PlacedNode): Devices {
  // Not by nominations: whoever reads this could not tell the nominated pod itself from others.
  const claims = state.ledger(node.name)?.claims ?? [];
  return devicesOf(node, usageOf(node, { pods: state.pods.on(node.name), claims }));
}

/** True when both say the same of the devices; a generation alone is no difference. */
export function sameDevices(one: Devices, other: Devices): boolean {
  return devicesMessage({ ...one, generation: 0 }) === devicesMessage({ ...other, generation: 0 });
}

/**
 * The patch of a node's status, of the strategic kind: conditions are merged by their type, so that nobody else's is
 * touched. No scheduler asks its pods again because of a condition's message.
 *
 * @param now milliseconds since 1970
 */
export function conditionPatch(published: Devices, now: number): JsonObject {
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const condition = {
    type: PUBLISHED_CONDITION,
    status: "True",
    reason: "Devices",
    message: devicesMessage(published),
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
  return { status: { conditions: [condition] } };
}

/** A node without the texts of conditions that are not ours: they change every few minutes and nobody here reads them. */
export function trimConditions(node: JsonObject): JsonObject {
  const status = field(node, "status");
  const conditions = field(status, "conditions");
  if (!isObject(status) || !Array.isArray(conditions)) return node;
  const own = (conditions as readonly Json[]).filter((condition) => field(condition, "type") === PUBLISHED_CONDITION);
  return { ...node, status: { ...status, conditions: own } };
}
