import * as z from "zod";
import { field, type Json, type JsonObject } from "../protocol/json.ts";
import { readClaimLine, WHOLE, writeClaimLine } from "./claim-line.ts";
import type { Claim, DeviceSlot, Ledger, PlacedNode } from "./model.ts";

/** Group and version of the custom resource. */
export const LEDGER_API_VERSION = "berth.dev/v1alpha1";

/** Kind of the custom resource; its plural is `nodeledgers`. */
export const LEDGER_KIND = "NodeLedger";

/**
 * The format of `spec` that this release reads and writes. A ledger with a higher number is left alone: what it says
 * cannot be judged here. Fields that a reader may ignore do not raise it.
 */
export const LEDGER_FORMAT = 1;

/** What a ledger has to know of its node. */
export type LedgerNode = Pick<PlacedNode, "name" | "uid" | "devices">;

/** What a stored object turned out to be. Only `ledger` may be believed; the others are never an empty ledger. */
export type LedgerReading =
  | { readonly kind: "ledger"; readonly ledger: Ledger; readonly usage: string }
  /** Not a ledger of this node, or one that cannot be read. `reason` names the field. */
  | { readonly kind: "broken"; readonly reason: string; readonly resourceVersion: string }
  /** Written by a newer release in a format that this one does not know. */
  | { readonly kind: "newer"; readonly format: number };

const text = z.string().min(1);
const whole = z.string().regex(WHOLE, "expected a decimal number as a string").transform(BigInt);
const instant = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));

const claim = z.string().transform((line, { addIssue }): Claim => {
  const read = readClaimLine(line);
  if (!("fault" in read)) return read;
  addIssue(read.fault);
  return z.NEVER;
});

const ledgerSchema = z.object({
  metadata: z.object({ name: text, resourceVersion: text }),
  spec: z.object({
    nodeUid: text,
    epoch: text,
    closedUntil: instant.optional(),
    lastAssumeTime: whole,
    claims: z.array(claim),
  }),
});

/**
 * Reads the ledger of the node from a NodeLedger object as the API server holds it. Fields that it does not know are
 * passed over, for a newer release may add some to the same format.
 */
export function readLedger(object: JsonObject, nodeName: string): LedgerReading {
  const format = field(field(object, "spec"), "format");
  if (typeof format === "number" && Number.isSafeInteger(format) && format > LEDGER_FORMAT) {
    return { kind: "newer", format };
  }
  const resourceVersion = field(field(object, "metadata"), "resourceVersion");
  const broken = (reason: string): LedgerReading => ({
    kind: "broken",
    reason,
    resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "",
  });
  if (format !== LEDGER_FORMAT) return broken(`spec.format: expected ${LEDGER_FORMAT}`);
  const parsed = ledgerSchema.safeParse(object);
  if (!parsed.success) return broken(firstFault(parsed.error));
  const { metadata, spec } = parsed.data;
  if (metadata.name !== nodeName) return broken(`metadata.name: the ledger of ${metadata.name}, not of ${nodeName}`);
  const { closedUntil = 0, ...rest } = spec;
  const ledger = { nodeName, resourceVersion: metadata.resourceVersion, closedUntil, ...rest };
  return { kind: "ledger", ledger, usage: storedUsage(object) };
}

/**
 * Writes a ledger as the object to send to the API server: with its resourceVersion, or without one when that is
 * empty, which makes it the body of a create. `status` is derived, for people and printer columns; nobody reads it
 * back but to see whether it is up to date.
 *
 * Each write empties `metadata.managedFields` (k8s.io/apimachinery v0.37, pkg/util/managedfields/internal, Update and
 * skipNonAppliedManager): who owns which field of which claim is of use to nobody, and takes the API server as much
 * time as all the rest of the write.
 *
 * @throws RangeError when a time lies outside of what a date can express.
 */
export function writeLedger(ledger: Ledger, node: LedgerNode): JsonObject {
  const { resourceVersion, nodeUid, epoch, closedUntil, lastAssumeTime, claims } = ledger;
  return {
    apiVersion: LEDGER_API_VERSION,
    kind: LEDGER_KIND,
    metadata: {
      name: ledger.nodeName,
      ...(resourceVersion === "" ? {} : { resourceVersion }),
      managedFields: [{}],
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: ledger.nodeName, uid: nodeUid }],
    },
    spec: {
      format: LEDGER_FORMAT,
      nodeUid,
      epoch,
      ...(closedUntil === 0 ? {} : { closedUntil: timestamp(closedUntil) }),
      lastAssumeTime: lastAssumeTime.toString(),
      claims: claims.map(lineOf),
    },
    status: writeStatus(claims, node.devices),
  };
}

/**
 * One word per device, `<id>:<claimed>/<total>`, a `!` behind an unhealthy one: `0:8/12 1:0/12!`. The printer column
 * of the same name, and what tells whether a stored status is up to date.
 */
export function usageLine(claims: readonly Claim[], devices: readonly DeviceSlot[]): string {
  const word = ({ id, total, healthy }: DeviceSlot) => `${id}:${claimed(claims, id)}/${total}${healthy ? "" : "!"}`;
  return devices.map(word).join(" ");
}

/** Claims never change, and those of a node are written again with each new one. */
const written = new WeakMap<Claim, string>();

function lineOf(one: Claim): string {
  const line = written.get(one) ?? writeClaimLine(one);
  written.set(one, line);
  return line;
}

function writeStatus(claims: readonly Claim[], devices: readonly DeviceSlot[]): JsonObject {
  const used = claims.reduce((sum, claim) => sum + claim.amount, 0n);
  const total = devices.reduce((sum, device) => sum + device.total, 0n);
  return { used: used.toString(), total: total.toString(), usage: usageLine(claims, devices) };
}

function claimed(claims: readonly Claim[], device: string): bigint {
  return claims.reduce((sum, claim) => (claim.device === device ? sum + claim.amount : sum), 0n);
}

function storedUsage(object: JsonObject): string {
  const usage: Json | undefined = field(field(object, "status"), "usage");
  return typeof usage === "string" ? usage : "";
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function firstFault(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? "unreadable" : `${issue.path.join(".")}: ${issue.message}`;
}
