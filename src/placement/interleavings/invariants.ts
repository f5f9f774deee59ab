import { readLedger } from "../ledger.ts";
import type { Ledger } from "../model.ts";
import type { World, WorldLedger, WorldPod } from "./world.ts";

/** Two living pods on one device, or two assume times alike on one node: must never be. */
export function doubleAssignment({ pods }: World): string | undefined {
  const held = new Map<string, string>();
  for (const [name, pod] of Object.entries(pods)) {
    if (!holdsDevice(pod)) continue;
    for (const place of [`device ${pod.device} of ${pod.node}`, `assume time ${pod.assumeTime} on ${pod.node}`]) {
      const other = held.get(place);
      if (other !== undefined) return `${other} and ${name} both have ${place}`;
      held.set(place, name);
    }
  }
  return undefined;
}

/** A pod on a device that an open ledger does not know: the next claim would take the device. */
export function uncoveredPod({ pods, ledgers }: World): string | undefined {
  const open = new Map(Object.entries(ledgers).map(([name, ledger]) => [name, openLedger(name, ledger)]));
  const uncovered = Object.entries(pods).find(([, pod]) => {
    const claims = holdsDevice(pod) ? open.get(pod.node)?.claims : undefined;
    return claims?.every(({ podUid, device }) => podUid !== pod.uid || device !== pod.device);
  });
  return uncovered && `${uncovered[0]} is bound to ${uncovered[1].node} and its ledger has no claim for it`;
}

/** The ledger as stored, if it can be read and is open. */
function openLedger(name: string, { body, version }: WorldLedger): Ledger | undefined {
  const reading = readLedger({ ...body, metadata: { name, resourceVersion: String(version) } }, name);
  return reading.kind === "ledger" && reading.ledger.closedUntil === 0 ? reading.ledger : undefined;
}

export function holdsDevice({ node, device, ended }: WorldPod): boolean {
  return node !== "" && device !== "" && !ended;
}
