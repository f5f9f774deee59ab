import * as z from "zod";
import { Unreadable, type View } from "../view.ts";
import { at, items, type Place } from "./place.ts";
import type { Taint } from "./taints.ts";

/** A taint that a pod puts up with. A field that is absent is the empty text. */
export interface Toleration {
  /** Empty for every key. */
  readonly key: string;
  /** `Equal`, which the empty one means too, or `Exists`. */
  readonly operator: string;
  readonly value: string;
  /** Empty for every effect. */
  readonly effect: string;
}

const FIELDS = ["key", "operator", "value", "effect"] as const;

/** The pod's tolerations, in the pod's order. */
export const podTolerations: View<readonly Toleration[]> = {
  name: "podTolerations",
  of: "pod",
  pace: "slow",
  doc: "The taints that the pod tolerates.",
  paths: ["spec.tolerations"],
  fact: z.array(z.object({ key: z.string(), operator: z.string(), value: z.string(), effect: z.string() })),
  read: (pod) => {
    const faults: Unreadable[] = [];
    const places = items(at(at({ value: pod, path: "" }, "spec"), "tolerations"), faults);
    const tolerations = places.map((place) => readToleration(place, faults));
    return faults[0] ?? tolerations;
  },
};

/**
 * `ToleratesTaint` of `k8s.io/api` core/v1/toleration.go, v0.37.2, without the operators Lt and Gt: the feature gate
 * TaintTolerationComparisonOperators is off by default, and they then tolerate nothing.
 */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(({ key, operator, value, effect }) => {
    if (effect !== "" && effect !== taint.effect) return false;
    if (key !== "" && key !== taint.key) return false;
    if (operator === "Exists") return true;
    return (operator === "" || operator === "Equal") && value === taint.value;
  });
}

function readToleration(place: Place, faults: Unreadable[]): Toleration {
  const read = { key: "", operator: "", value: "", effect: "" };
  for (const name of FIELDS) {
    const { value, path } = at(place, name);
    if (typeof value === "string") read[name] = value;
    else if (value !== undefined && value !== null) faults.push(new Unreadable(path, "is not a text"));
  }
  return read;
}
