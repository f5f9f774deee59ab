import { field, type JsonObject } from "../protocol/json.ts";
import { type LedgerReading, readLedger } from "./ledger.ts";
import type { Ledger } from "./model.ts";

/** The ledgers as this process knows them. For showing, judging and cleaning; a device is given by what is written. */
export interface FollowedLedgers {
  /** A node's ledger as last seen, by the watch or by this process's own writes, whichever is newer. */
  ledger(node: string): Ledger | undefined;
  /** True while no pod is given a device of the node, because its ledger was made anew. */
  closed(node: string, now: number): boolean;
  /** True while the node's ledger is in the format of a newer release: no pod is given a device of it by this one. */
  newer(node: string): boolean;
}

/**
 * @param watched the ledger's object as the watch has last shown it
 * @param peek the ledger as this process last wrote or read it
 */
export function followLedgers(
  watched: (node: string) => JsonObject | undefined,
  peek: (node: string) => Ledger | undefined,
): FollowedLedgers {
  const read = remembering();
  const ledger = (node: string): Ledger | undefined => {
    const [own, object] = [peek(node), watched(node)];
    if (object === undefined || (own !== undefined && versionOf(own) >= versionOf(metadataOf(object)))) return own;
    const reading = read(object, node);
    return reading.kind === "ledger" ? reading.ledger : own;
  };
  return {
    ledger,
    closed: (node, now) => now < (ledger(node)?.closedUntil ?? 0),
    newer: (node) => {
      const object = watched(node);
      return object !== undefined && read(object, node).kind === "newer";
    },
  };
}

/** Followed objects are never changed, so each is read once. */
function remembering(): (object: JsonObject, node: string) => LedgerReading {
  const readings = new WeakMap<JsonObject, LedgerReading>();
  return (object, node) => {
    const reading = readings.get(object) ?? readLedger(object, node);
    readings.set(object, reading);
    return reading;
  };
}

/** Decimal and growing for every object of one resource since Kubernetes 1.35, and in fact for long before. */
function versionOf({ resourceVersion }: { readonly resourceVersion: string }): bigint {
  return /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
}

function metadataOf(object: JsonObject): { readonly resourceVersion: string } {
  const resourceVersion = field(field(object, "metadata"), "resourceVersion");
  return { resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "" };
}
