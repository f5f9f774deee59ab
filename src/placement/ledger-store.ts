import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import { adoptPods } from "./claims.ts";
import { CLOSED_FOR, createClosures } from "./closure.ts";
import { type LedgerNode, readLedger, usageLine, writeLedger } from "./ledger.ts";
import type { Ledger, PlacedPod } from "./model.ts";
import type { Clock, PlacementPorts, Unknown, WriteOutcome } from "./ports.ts";

/** What the protocol works with. */
export interface ProtocolContext {
  readonly ports: PlacementPorts;
  readonly clock: Clock;
  /** A string never given before by anyone, such as a random UUID. */
  newId(): string;
  /** Reads a pod as the API server holds it. */
  placedPod(object: JsonObject): PlacedPod;
  /** How long a ledger made anew stays closed, in milliseconds; {@link CLOSED_FOR} when absent. */
  readonly closedFor?: number;
}

/** A ledger to decide on. */
export interface Opened {
  readonly ledger: Ledger;
  /** False when another writer may have changed it since: then only a write under its version proves it. */
  readonly fresh: boolean;
  /** True when no device may be bound on the node for now. */
  readonly closed: boolean;
  /** True when it has to be written even if nobody changes it. */
  readonly dirty: boolean;
}

/** The ledger cannot be used now; the sentence says why and what to do. */
export interface Unavailable {
  readonly kind: "unavailable";
  readonly reason: string;
}

/** The ledgers at the API server, with the last known version of each kept in memory. */
export interface LedgerStore {
  /** The ledger as remembered, or as read now; one that is missing or broken is made anew, closed, never empty. */
  open(node: LedgerNode): Promise<Opened | Unavailable | "changed">;
  /** Writes the ledger under its version. "changed": somebody else wrote, or nobody knows; open it again. */
  write(ledger: Ledger, node: LedgerNode): Promise<Ledger | Unavailable | "changed">;
  /** The ledger as remembered. */
  peek(nodeName: string): Ledger | undefined;
  forget(nodeName: string): void;
}

interface Remembered {
  readonly ledger: Ledger;
  readonly usage: string;
}

export function createLedgerStore(context: ProtocolContext): LedgerStore {
  const { ports, clock } = context;
  const memory = new Map<string, Remembered>();
  const closures = createClosures(clock, context.closedFor ?? CLOSED_FOR);

  const write = async (ledger: Ledger, node: LedgerNode): Promise<Remembered | Unavailable | "changed"> => {
    const object = writeLedger(ledger, node);
    const outcome = await (ledger.resourceVersion === "" ? ports.createLedger(object) : ports.updateLedger(object));
    const stored = judgeWrite(outcome, { ledger, object });
    if (isRemembered(stored)) memory.set(node.name, stored);
    else memory.delete(node.name);
    return stored;
  };

  const read = async (node: LedgerNode): Promise<Remembered | Unavailable | "changed"> => {
    const outcome = await ports.readLedger(node.name);
    if (outcome.kind === "unknown") return unavailable(`The ledger of node ${node.name} cannot be read`, outcome);
    const reading = outcome.kind === "found" ? readLedger(outcome.object, node.name) : undefined;
    if (reading?.kind === "newer") return newer(node.name, reading.format);
    if (reading?.kind === "ledger") {
      memory.set(node.name, reading);
      return reading;
    }
    const anew = await makeAnew(context, node, reading?.resourceVersion ?? "");
    return "kind" in anew ? anew : write(anew, node);
  };

  const usable = async (known: Remembered, fresh: boolean, node: LedgerNode): Promise<Opened | Unavailable> => {
    const owned = { ...known.ledger, nodeUid: node.uid };
    const dirty = known.ledger.nodeUid !== node.uid || known.usage !== usageLine(owned.claims, node.devices);
    if (!closures.over(owned)) return { ledger: owned, fresh, closed: true, dirty };
    if (owned.closedUntil === 0) return { ledger: owned, fresh, closed: false, dirty };
    const pods = await podsOf(context, node.name);
    if ("kind" in pods) return unlisted(pods, node.name);
    const complete = adoptPods(owned, pods, { now: clock.now(), newId: context.newId });
    return { ledger: { ...complete, closedUntil: 0 }, fresh, closed: false, dirty: true };
  };

  return {
    async open(node) {
      const remembered = memory.get(node.name);
      const known = remembered ?? (await read(node));
      return isRemembered(known) ? usable(known, remembered === undefined, node) : known;
    },
    async write(ledger, node) {
      const stored = await write(ledger, node);
      return isRemembered(stored) ? stored.ledger : stored;
    },
    peek: (nodeName) => memory.get(nodeName)?.ledger,
    forget: (nodeName) => void memory.delete(nodeName),
  };
}

function isRemembered(known: Remembered | Unavailable | "changed"): known is Remembered {
  return known !== "changed" && "ledger" in known;
}

/** A ledger whose past is unknown: what the node's pods show, under a new epoch, closed until nothing can be in flight. */
async function makeAnew(
  context: ProtocolContext,
  node: LedgerNode,
  resourceVersion: string,
): Promise<Ledger | Unavailable> {
  const pods = await podsOf(context, node.name);
  if ("kind" in pods) return unlisted(pods, node.name);
  const now = context.clock.now();
  const empty: Ledger = {
    nodeName: node.name,
    nodeUid: node.uid,
    resourceVersion,
    epoch: context.newId(),
    closedUntil: now + (context.closedFor ?? CLOSED_FOR),
    lastAssumeTime: 0n,
    claims: [],
  };
  return adoptPods(empty, pods, { now, newId: context.newId });
}

async function podsOf(context: ProtocolContext, nodeName: string): Promise<readonly PlacedPod[] | Unknown> {
  const listed = await context.ports.listPodsOnNode(nodeName);
  return listed.kind === "unknown" ? listed : listed.pods.map((object) => context.placedPod(object));
}

interface Sent {
  readonly ledger: Ledger;
  readonly object: JsonObject;
}

/**
 * What is stored has to hold what was sent: a custom resource definition that lacks a field would drop it silently.
 * Then it is the ledger that was sent, and need not be read again.
 */
function judgeWrite(outcome: WriteOutcome, sent: Sent): Remembered | Unavailable | "changed" {
  const { ledger, object } = sent;
  if (outcome.kind === "rejected")
    return unavailable(`The ledger of node ${ledger.nodeName} cannot be written`, outcome);
  if (outcome.kind !== "written") return "changed";
  const { metadata, spec, status } = outcome.object;
  const [name, resourceVersion] = [field(metadata, "name"), field(metadata, "resourceVersion")];
  const versioned = name === ledger.nodeName && typeof resourceVersion === "string" && resourceVersion !== "";
  if (!versioned || !holds(spec, object["spec"])) {
    const message =
      "the API server stored something else than was sent: apply infra/crd/nodeledgers.yaml of this release";
    return unavailable(`The ledger of node ${ledger.nodeName} is unusable`, { message });
  }
  const usage = field(status, "usage");
  return { ledger: { ...ledger, resourceVersion }, usage: typeof usage === "string" ? usage : "" };
}

/** True when one value has everything of another; an object may have more fields, a list not more items. */
function holds(stored: Json | undefined, sent: Json | undefined): boolean {
  if (Array.isArray(sent)) {
    return Array.isArray(stored) && stored.length === sent.length && sent.every((item, i) => holds(stored[i], item));
  }
  if (!isObject(sent)) return stored === sent;
  return isObject(stored) && Object.keys(sent).every((key) => holds(field(stored, key), sent[key]));
}

function newer(nodeName: string, format: number): Unavailable {
  const what = `The ledger of node ${nodeName} has format ${format}, written by a newer release`;
  return unavailable(what, { message: "finish the upgrade, or delete the ledger to let this release start anew" });
}

function unlisted(cause: Unknown, nodeName: string): Unavailable {
  return unavailable(`The pods of node ${nodeName} cannot be listed`, cause);
}

function unavailable(what: string, { message }: { readonly message: string }): Unavailable {
  return { kind: "unavailable", reason: `${what}: ${message}` };
}
