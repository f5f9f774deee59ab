import { metadataText } from "../cluster/metadata.ts";
import type { Objects } from "../placement/followed.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import { createWaitingRoom, type QueueTiming } from "./backoff.ts";

/** The clock that ledgers are closed by. */
export interface OpeningTiming extends Pick<QueueTiming, "after"> {
  /** Milliseconds since 1970. */
  now(): number;
}

/** A ledger is looked at again so long after it opens, in milliseconds: clocks that tell whole ones differ by one. */
const AFTER = 20;

/** No ledger is waited for longer, in milliseconds: its time is then an error, and a timer has a limit. */
const MOST = 600_000;

/**
 * Tells when a ledger that was made anew opens: that is a matter of time alone, and no watch shows it.
 *
 * @param opened a node may give devices again
 */
export function followOpenings(ledgers: Objects, timing: OpeningTiming, opened: () => void): { stop(): void } {
  const awaited = new Map<string, number>();
  const room = createWaitingRoom<{ readonly name: string; readonly due: number }>(
    { elapsed: timing.now, after: timing.after },
    ({ name, due }) => {
      if (awaited.get(name) !== due) return;
      awaited.delete(name);
      opened();
    },
  );
  const see = (ledger: JsonObject): void => {
    const name = metadataText(ledger, "name");
    const [until, now] = [closedUntil(ledger), timing.now()];
    if (!(until > now)) return void awaited.delete(name);
    const due = Math.min(until + AFTER, now + MOST);
    if (awaited.get(name) === due) return;
    awaited.set(name, due);
    room.add({ name, due });
  };
  const forget = ledgers.subscribe({
    add: see,
    update: see,
    delete: (ledger) => void awaited.delete(metadataText(ledger, "name")),
  });
  return {
    stop() {
      forget();
      room.stop();
    },
  };
}

/** In milliseconds since 1970; no number for a ledger that is open. */
function closedUntil(ledger: JsonObject): number {
  const until = field(field(ledger, "spec"), "closedUntil");
  return typeof until === "string" ? Date.parse(until) : Number.NaN;
}
