import { field, type JsonObject } from "../../protocol/json.ts";
import { readLedger, writeLedger } from "../ledger.ts";
import type { Claim } from "../model.ts";
import type { BindingOrder, RevocationOrder } from "../ports.ts";
import { type Mutant, nodeNamed } from "./process.ts";
import { placedPod } from "./world.ts";

/** A Binding without the pod's resourceVersion: one that arrives late succeeds. */
export const withoutVersion: Mutant = {
  all: (ports) => ({
    ...ports,
    postBinding: ({ resourceVersion: _, ...order }: BindingOrder) => ports.postBinding(order),
  }),
};

/** First the claim is dropped, then the pod is patched. */
export const dropBeforePatch: Mutant = {
  all(ports) {
    let owed: RevocationOrder | undefined;
    return {
      ...ports,
      async markRevoked(order) {
        owed = order;
        return { kind: "patched" };
      },
      async updateLedger(object) {
        const outcome = await ports.updateLedger(object);
        const order = owed;
        owed = undefined;
        if (order !== undefined) await ports.markRevoked(order);
        return outcome;
      },
    };
  },
};

/** A claim is dropped without a word to the pod. */
export const dropWithoutPatch: Mutant = {
  all: (ports) => ({ ...ports, markRevoked: async () => ({ kind: "patched" }) }),
};

/**
 * The pod is read after the claim, and bound with the version seen there unless its annotation names this claim. The
 * annotation has room for one claim: a second revocation of the same pod hides the first.
 */
export const readAfterClaim: Mutant = {
  all(ports) {
    const claimIds = new Map<string, string>();
    return {
      ...ports,
      updateLedger(object) {
        for (const { podUid, id } of claimsIn(object)) claimIds.set(podUid, id);
        return ports.updateLedger(object);
      },
      async postBinding(order) {
        const read = await ports.readPod(order);
        if (read.kind !== "found") return read.kind === "gone" ? read : { kind: "conflict", message: "unread" };
        const pod = placedPod(read.object);
        const own = pod.uid === order.uid && pod.revoked !== claimIds.get(order.uid);
        if (!own) return { kind: "conflict", message: "revoked" };
        return ports.postBinding({ ...order, resourceVersion: pod.resourceVersion });
      },
    };
  },
};

/** A ledger that cannot be read is taken as an empty one. */
export const brokenIsEmpty: Mutant = {
  all: (ports) => ({
    ...ports,
    async readLedger(nodeName) {
      const read = await ports.readLedger(nodeName);
      const broken = read.kind === "found" && field(field(read.object, "spec"), "format") === undefined;
      return broken ? { kind: "found", object: emptied(read.object, nodeName) } : read;
    },
  }),
};

/** A ledger made anew is opened at once. */
export const neverClosed: Mutant = {
  all: (ports) => ({
    ...ports,
    createLedger: (object) => ports.createLedger(opened(object)),
    updateLedger: (object) => ports.updateLedger(opened(object)),
  }),
};

/** A Binding whose answer is lost releases its claim. */
export const lostIsRefused: Mutant = {
  all: (ports) => ({
    ...ports,
    async postBinding(order) {
      const outcome = await ports.postBinding(order);
      return outcome.kind === "unknown" ? { kind: "gone" } : outcome;
    },
  }),
};

/** The cleaner drops the claims of bound pods, for the informer will show them soon. */
export const boundNeedsNoClaim: Mutant = {
  clean: (ports) => ({
    ...ports,
    async readPod(ref) {
      const read = await ports.readPod(ref);
      return read.kind === "found" && placedPod(read.object).nodeName !== "" ? { kind: "gone" } : read;
    },
  }),
};

/** Nothing is ever revoked. */
export const neverRevokes: Mutant = {
  all: (ports) => ({ ...ports, markRevoked: async () => ({ kind: "conflict", message: "no" }) }),
};

/** The ledger is written over whatever somebody else has written. */
export const blindWrites: Mutant = {
  all: (ports) => ({
    ...ports,
    async updateLedger(object) {
      const read = await ports.readLedger(String(field(field(object, "metadata"), "name")));
      const metadata = read.kind === "found" ? field(read.object, "metadata") : undefined;
      return ports.updateLedger(metadata === undefined ? object : { ...object, metadata });
    },
  }),
};

function claimsIn(ledger: JsonObject): readonly Claim[] {
  const reading = readLedger(ledger, String(field(field(ledger, "metadata"), "name")));
  return reading.kind === "ledger" ? reading.ledger.claims : [];
}

function opened(object: JsonObject): JsonObject {
  const { closedUntil: _, ...spec } = field(object, "spec") as JsonObject;
  return { ...object, spec };
}

function emptied(object: JsonObject, name: string): JsonObject {
  const { resourceVersion } = field(object, "metadata") as { readonly resourceVersion: string };
  const empty = { nodeName: name, nodeUid: `${name}-uid`, resourceVersion, epoch: "e", closedUntil: 0 };
  return writeLedger({ ...empty, lastAssumeTime: 0n, claims: [] }, nodeNamed(name));
}
