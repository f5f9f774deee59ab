import type { Claim, PlacedPod } from "./model.ts";

/** Why a bind was refused. */
export type RefusedCause =
  /** The pod does not exist any more. */
  | "gone"
  /** The pod of this name is another one than was asked for. */
  | "replaced"
  /** The pod is in phase Succeeded or Failed, or being deleted. */
  | "ended"
  /** The pod is bound to another node. */
  | "elsewhere"
  /** The pod's request can never be served, or no device of the node can take it now. */
  | "device"
  /** The node's ledger was made anew a moment ago. */
  | "closed"
  /** The ledger cannot be read or written. */
  | "ledger"
  /** The pod changed each time between two steps. */
  | "changing"
  /** The API server refused the Binding for a reason of its own (access, quota, validation). */
  | "rejected"
  /** The pod could not be read. */
  | "unreachable";

/** What came of a bind. */
export type BindAnswer =
  | {
      readonly kind: "bound";
      /** True when a Binding of this very call did it; false when the pod was bound to this node already. */
      readonly byThis: boolean;
      /** The promise it was bound under; absent for pods without a device request and for `byThis: false`. */
      readonly claim?: Claim;
    }
  /** The answer to the Binding was lost. It may have taken effect or not; a device stays claimed until that is known. */
  | { readonly kind: "unknown"; readonly reason: string; readonly detail: string; readonly claim?: Claim }
  | {
      readonly kind: "refused";
      readonly cause: RefusedCause;
      /** One constant sentence for a cause, fit for the scheduler: it becomes part of the pod's events. */
      readonly reason: string;
      /** What exactly was found, for log lines. */
      readonly detail: string;
    };

const SENTENCES: Readonly<Record<Exclude<RefusedCause, "device">, string>> = {
  gone: "The pod does not exist any more",
  replaced: "The pod was replaced by another one of the same name",
  ended: "The pod has ended or is being deleted",
  elsewhere: "The pod is bound to another node already",
  closed: "The device ledger of the node was made anew; devices are placed there again in a minute or two",
  ledger: "The device ledger of the node cannot be used now",
  changing: "The pod changed several times while it was being bound",
  rejected: "The API server refused the Binding",
  unreachable: "The pod could not be read from the API server",
};

/** A refusal with the sentence of its cause. */
export function refuse(cause: Exclude<RefusedCause, "device">, detail: string): BindAnswer {
  return { kind: "refused", cause, reason: SENTENCES[cause], detail };
}

/** A refusal by the devices, in the words of whoever judged them. */
export function refuseDevice(reason: string, pod: PlacedPod): BindAnswer {
  return {
    kind: "refused",
    cause: "device",
    reason,
    detail: `pod ${pod.namespace}/${pod.name} asks for ${pod.request}`,
  };
}

export function unknownAnswer(detail: string, claim?: Claim): BindAnswer {
  const reason = "The API server's answer to the Binding was lost; it may have taken effect";
  return { kind: "unknown", reason, detail, ...(claim === undefined ? {} : { claim }) };
}
