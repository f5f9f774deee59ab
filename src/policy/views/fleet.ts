import type * as z from "zod";
import { field, type Json, type JsonObject } from "../../protocol/json.ts";
import { type Commitment, commitmentsSchema, PriceTable, pricesSchema, zoneSchema } from "../facts.ts";
import { MatchTable } from "../match-table.ts";
import { Unreadable, type View } from "../view.ts";
import { mapOf } from "./maps.ts";

/** What the fleet's operators say about one zone. */
export type Zone = z.infer<typeof zoneSchema>;

/** Prices by node labels. Reading builds an index: read once for the same facts. */
export const prices: View<PriceTable> = {
  name: "prices",
  of: "fleet",
  pace: "slow",
  doc: "Hourly prices of nodes by their labels; the price with the most labels wins, then the first.",
  paths: ["prices"],
  fact: pricesSchema.transform((rows) => new PriceTable(rows)),
  read: (facts) => section(facts, "prices", prices.fact, []),
};

/** Commitments by node labels. Reading builds an index: read once for the same facts. */
export const commitments: View<MatchTable<Commitment>> = {
  name: "commitments",
  of: "fleet",
  pace: "slow",
  doc: "Which nodes are paid already, by their labels.",
  paths: ["commitments"],
  fact: commitmentsSchema.transform((rows) => new MatchTable(rows)),
  read: (facts) => section(facts, "commitments", commitments.fact, []),
};

/** The zones that somebody has said something about, by the value of `topology.kubernetes.io/zone`. */
export const zones: View<Readonly<Record<string, Zone>>> = {
  name: "zones",
  of: "fleet",
  pace: "slow",
  doc: "Zones that are closed, and the carbon intensity of zones in gCO2e/kWh.",
  paths: ["zones"],
  fact: mapOf(zoneSchema),
  read: (facts) => section(facts, "zones", zones.fact, {}),
};

function section<T>(facts: JsonObject, name: string, schema: z.ZodType<T>, absent: Json): T | Unreadable {
  const read = schema.safeParse(field(facts, name) ?? absent);
  return read.success ? read.data : new Unreadable(name, "is not what the schema of facts.json allows");
}
