import * as z from "zod";
import { checkFacts, type FleetFacts, fleetFacts } from "../policy/facts.ts";
import { type Checked, checkSchema, formatPath, type PathFault } from "../policy/faults.ts";
import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import { EVALUATE_PROTOCOL as PROTOCOL, RELEASE } from "../protocol/release.ts";

/** At most so many faults are told of one document: one is enough to see that it is broken. */
const TOLD = 3;

const view = z.object({
  name: z.string().min(1).max(4096),
  of: z.enum(["pod", "node", "fleet", "cluster"]),
  pace: z.enum(["slow", "fast"]),
  paths: z.array(z.string()),
});

const plugin = z.object({
  name: z.string().regex(/^[A-Z][A-Za-z0-9]{0,62}$/, "must be a plugin's name"),
  version: z.int().min(1),
  maturity: z.enum(["alpha", "beta", "stable"]).default("alpha"),
  doc: z.string().default(""),
  near: z.boolean(),
  weight: z.int().min(1).max(100).optional(),
  scale: z.enum(["none", "max", "max-reversed", "range", "range-reversed", "list"]).optional(),
  whenAway: z.enum(["skip", "reject"]).optional(),
  args: z.unknown(),
  reads: z.object({ pod: z.array(view), node: z.array(view), around: z.array(view) }),
});

/** Unknown keys are passed over: a neighbouring release may say more. */
const shape = z.object({
  protocol: z.literal(PROTOCOL),
  release: z.string().min(1).max(64),
  profile: z.string().min(1).max(63),
  version: z.string().regex(/^[\w.-]{1,64}$/, "must be a version"),
  plugins: z.array(plugin).max(100),
});

/** A view as a profile's document names it. */
export type DescribedView = z.infer<typeof view>;

/** A plugin as a profile's document describes it, to be decided here or asked there. */
export type DescribedPlugin = z.infer<typeof plugin>;

/** What a function answers to `GET /<profile>`, checked: everything needed to decide by the profile elsewhere. */
export type ProfileDocument = z.infer<typeof shape> & { readonly facts: FleetFacts };

const checkShape = checkSchema(shape);

/** Reads a profile's document. A problem is a sentence for people that tells what is wrong with it and what to do. */
export function readProfile(
  bytes: Uint8Array,
  profile: string,
): { readonly value: ProfileDocument } | { readonly problem: string } {
  const document = parse(bytes);
  if (document === undefined) return { problem: "the function's answer is not JSON: is it a function of Berth?" };
  const strange = protocolProblem(document);
  if (strange !== undefined) return { problem: strange };
  const [checked, facts] = [checkShape(document), checkFacts(knownSections(field(document, "facts")))];
  if (!("value" in checked) || !("value" in facts))
    return { problem: broken(faultsOf(checked), faultsOf(facts, "facts")) };
  if (checked.value.profile !== profile)
    return { problem: `the function answered with profile ${checked.value.profile} instead of ${profile}` };
  return { value: { ...checked.value, facts: facts.value } };
}

function parse(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(value as Json) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Told before anything else: of another protocol nothing can be expected to be in its place. */
function protocolProblem(document: JsonObject): string | undefined {
  const [protocol, release] = [field(document, "protocol"), String(field(document, "release")).slice(0, 64)];
  if (protocol === PROTOCOL) return undefined;
  if (typeof protocol !== "number") return "the function's answer names no protocol: is it a function of Berth?";
  return protocol > PROTOCOL
    ? `the function (release ${release}) speaks protocol ${protocol}, newer than this one's ${PROTOCOL}: update this program (release ${RELEASE})`
    : `the function (release ${release}) speaks protocol ${protocol}, older than this one's ${PROTOCOL}: deploy a function of release ${RELEASE}`;
}

/** A newer release may tell facts that no plugin of this one reads. */
function knownSections(facts: Json | undefined): unknown {
  if (!isObject(facts)) return facts;
  return Object.fromEntries(Object.entries(facts).filter(([key]) => Object.hasOwn(fleetFacts.shape, key)));
}

function faultsOf(checked: Checked<unknown>, ...above: readonly string[]): readonly PathFault[] {
  return "faults" in checked ? checked.faults.map((fault) => ({ ...fault, path: [...above, ...fault.path] })) : [];
}

function broken(...faults: readonly (readonly PathFault[])[]): string {
  const all = faults.flat();
  const told = all.slice(0, TOLD).map(({ path, message }) => `${formatPath(path)} ${message}`);
  return `the function's profile is broken: ${told.join("; ")}${all.length > TOLD ? "; …" : ""}`;
}
