import * as z from "zod";
import { field, type Json } from "../../protocol/json.ts";
import type { Known, View } from "../view.ts";
import { amount } from "./amounts.ts";
import { mapOf } from "./maps.ts";

/** The type of the Node condition whose message holds the summary. */
export const PUBLISHED_CONDITION = "BerthPublished";

/** One device of a node that pods can share. */
export interface Device {
  /** Unique on its node for its resource. */
  readonly id: string;
  /** In the cluster's own unit of the resource; `used` can exceed it. */
  readonly total: bigint;
  readonly used: bigint;
  readonly healthy: boolean;
}

/** The devices of a node as the binder last published them. */
export interface Devices {
  /** Grows with every change. */
  readonly generation: number;
  /** By resource name, such as `aliyun.com/gpu-mem`. */
  readonly devices: Readonly<Record<string, readonly Device[]>>;
}

const devicesSchema: z.ZodType<Devices> = z.object({
  generation: z.int().min(0),
  devices: mapOf(z.array(z.object({ id: z.string(), total: amount, used: amount, healthy: z.boolean() }))),
});

/** The node's devices, published by the binder in the message of the condition `BerthPublished`. */
export const devices: View<Known<Devices>> = {
  name: "devices",
  of: "node",
  pace: "fast",
  doc: "The node's devices, how much of each is used, in the cluster's own unit, and whether they are healthy.",
  paths: ["status.conditions"],
  fact: z.union([
    z.strictObject({ value: devicesSchema }),
    z.strictObject({ unknown: z.enum(["absent", "unreadable"]) }),
  ]),
  read: (node) => {
    const conditions = field(field(node, "status"), "conditions");
    const list: readonly Json[] = Array.isArray(conditions) ? conditions : [];
    const published = list.find((condition) => field(condition, "type") === PUBLISHED_CONDITION);
    return published === undefined ? { unknown: "absent" } : readMessage(field(published, "message"));
  },
};

/** Writes devices as the message that {@link devices} reads: `{"v":1,"generation":7,"devices":{…}}`. */
export function devicesMessage({ generation, devices }: Devices): string {
  const message = { v: 1, generation, devices };
  return JSON.stringify(message, (_, value) => (typeof value === "bigint" ? value.toString() : value));
}

/** Keys that it does not know are passed over: a newer binder may publish more under the same version. */
function readMessage(message: Json | undefined): Known<Devices> {
  const parsed = typeof message === "string" ? parseJson(message) : undefined;
  const read = field(parsed, "v") === 1 ? devicesSchema.safeParse(parsed) : undefined;
  return read?.success ? { value: read.data } : { unknown: "unreadable" };
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
