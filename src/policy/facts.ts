import * as z from "zod";
import { field, isObject, type Json } from "../protocol/json.ts";
import { type Check, checkSchema, type PathFault } from "./faults.ts";
import { MatchTable } from "./match-table.ts";
import type { Labels } from "./views/labels.ts";

const match = z.record(z.string().min(1), z.string()).meta({
  description: "Labels that a node must have, all of them, with these values.",
});

const price = z.strictObject({
  match: match.meta({ description: "Labels of the nodes at this price; {} is every node." }),
  perHour: z.number().min(0).meta({ description: "What a whole node costs per hour." }),
});

const commitment = z.strictObject({
  name: z.string().min(1),
  match: match.refine((labels) => Object.keys(labels).length > 0, "must name at least one label"),
});

/** What facts.json says about one zone. */
export const zoneSchema = z.strictObject({
  closed: z.boolean().default(false).meta({ description: "True while pods should leave or avoid the zone." }),
  carbon: z.number().min(0).optional().meta({ description: "Carbon intensity of its power, in gCO2e/kWh." }),
});

/** The prices of facts.json. The price with the most labels wins, then the one that stands first. */
export const pricesSchema = z.array(price);

/** The commitments of facts.json: nodes that are paid already, whatever runs on them. */
export const commitmentsSchema = z.array(commitment);

/** The schema of facts.json: what no single cluster knows. Every section may be left out. */
export const fleetFacts = z.strictObject({
  apiVersion: z.literal("berth.dev/v1alpha1"),
  kind: z.literal("FleetFacts"),
  currency: z.string().min(1).optional().meta({ description: "Of all prices, for people: EUR, USD." }),
  prices: pricesSchema.optional(),
  commitments: commitmentsSchema.optional(),
  zones: z.record(z.string().min(1), zoneSchema).optional().meta({
    description: "By the value of the label topology.kubernetes.io/zone.",
  }),
});

/** A checked facts.json. */
export type FleetFacts = z.infer<typeof fleetFacts>;

/** What nodes with some labels cost per hour, whole. */
export type Price = z.infer<typeof price>;

/** Nodes with some labels are paid already. */
export type Commitment = z.infer<typeof commitment>;

/** Prices, to be looked up by a node's labels. */
export class PriceTable extends MatchTable<Price> {
  /** The hourly price of a node with these labels, or undefined when no price matches it. */
  perHour(labels: Labels): number | undefined {
    return this.find(labels)?.perHour;
  }
}

const checkShape = checkSchema(fleetFacts);

/** Checks a parsed facts.json: every fault at once, each with its path. */
export const checkFacts: Check<FleetFacts> = (data) => {
  const checked = checkShape(data);
  const repeated = [
    ...repeats(field(data, "prices"), (row) => labelsId(field(row, "match")), "match", "prices"),
    ...repeats(field(data, "commitments"), (row) => field(row, "name"), "name", "commitments"),
  ];
  if (repeated.length === 0) return checked;
  return { faults: [...("faults" in checked ? checked.faults : []), ...repeated] };
};

/** Faults for rows that say again what an earlier row has said. */
function repeats(rows: Json | undefined, identity: (row: Json) => unknown, key: string, section: string): PathFault[] {
  const first = new Map<unknown, number>();
  const list: readonly Json[] = Array.isArray(rows) ? rows : [];
  return list.flatMap((row, index) => {
    const id = identity(row);
    const earlier = first.get(id);
    if (typeof id !== "string") return [];
    if (earlier === undefined) first.set(id, index);
    else return [{ path: [section, index, key], message: `is the same as in ${section}[${earlier}]` }];
    return [];
  });
}

function labelsId(labels: Json | undefined): string | undefined {
  return isObject(labels)
    ? JSON.stringify(Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1)))
    : undefined;
}
