import type { ProtocolContext } from "./ledger-store.ts";
import type { PlacedPod } from "./model.ts";
import type { Gone, PodRef, Unknown } from "./ports.ts";

/** A pod as the API server holds it now. */
export type FreshPod = { readonly kind: "pod"; readonly pod: PlacedPod } | Gone | Unknown;

/** Reads the pod now. */
export async function readPod({ ports, placedPod }: ProtocolContext, ref: PodRef): Promise<FreshPod> {
  const read = await ports.readPod({ namespace: ref.namespace, name: ref.name });
  return read.kind === "found" ? { kind: "pod", pod: placedPod(read.object) } : read;
}

/**
 * How a pod stands to a node, seen from a claim:
 * `here` bound to the node, and so for as long as it lives;
 * `open` not bound, it still may be;
 * `over` gone, terminal, of another UID or bound to another node: no Binding can bring it to this node any more, for
 * none of these states is ever left and each of them made every older resourceVersion void.
 */
export type Standing = "here" | "open" | "over";

/** Judges a pod as read; undefined is a pod that does not exist. */
export function standing(pod: PlacedPod | undefined, podUid: string, nodeName: string): Standing {
  if (pod === undefined || pod.uid !== podUid || pod.terminal) return "over";
  if (pod.nodeName === "") return "open";
  return pod.nodeName === nodeName ? "here" : "over";
}
