import * as z from "zod";
import { type Quantity, toMilli, toUnits } from "../quantity.ts";
import { mapOf } from "./maps.ts";

/**
 * Amounts by resource name: `cpu` in millicores, `memory` and `ephemeral-storage` in bytes, everything else in its
 * own units. Without a prototype: a resource that is not there reads as undefined.
 */
export type Amounts = Readonly<Record<string, bigint>>;

/** One amount as JSON: a decimal string, for 64 bits are more than a JSON number carries. */
export const amount: z.ZodType<bigint> = z
  .string()
  .regex(/^-?\d{1,19}$/, "must be a whole number as a string")
  .transform(BigInt);

/** Amounts as JSON. */
export const amounts: z.ZodType<Amounts> = mapOf(amount);

/** A quantity in the unit in which kube-scheduler counts the resource (`pkg/scheduler/framework/types.go`, v1.37.2). */
export function amountOf(resource: string, quantity: Quantity): bigint {
  return resource === "cpu" ? toMilli(quantity) : toUnits(quantity);
}
