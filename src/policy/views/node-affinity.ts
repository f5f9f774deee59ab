import * as z from "zod";
import type { JsonObject } from "../../protocol/json.ts";
import { Unreadable, type View } from "../view.ts";
import type { Labels } from "./labels.ts";
import { emptyMap, mapField, mapOf } from "./maps.ts";
import { at, items, type Place } from "./place.ts";

/** What a node's label or field has to be. */
export interface Requirement {
  readonly key: string;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`. */
  readonly operator: string;
  readonly values: readonly string[];
}

/** Requirements that all have to hold. A term without any matches no node. */
export interface NodeTerm {
  readonly matchExpressions: readonly Requirement[];
  readonly matchFields: readonly Requirement[];
}

/** Which nodes a pod asks for. */
export interface NodeAffinityRules {
  /** Labels of `spec.nodeSelector`. */
  readonly nodeSelector: Labels;
  /** Terms of which one has to match; absent where the pod requires none. */
  readonly required?: readonly NodeTerm[] | undefined;
  readonly preferred: readonly { readonly weight: number; readonly preference: NodeTerm }[];
}

const requirement = z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()) });
const term = z.object({ matchExpressions: z.array(requirement), matchFields: z.array(requirement) });

/** Which nodes the pod asks for, by node selector and node affinity. */
export const podNodeAffinity: View<NodeAffinityRules> = {
  name: "podNodeAffinity",
  of: "pod",
  pace: "slow",
  doc: "Which nodes the pod requires and prefers, by its node selector and its node affinity.",
  paths: ["spec.affinity", "spec.nodeSelector"],
  fact: z.object({
    nodeSelector: mapOf(z.string()),
    required: z.array(term).optional(),
    preferred: z.array(z.object({ weight: z.int(), preference: term })),
  }),
  read: readRules,
};

function readRules(pod: JsonObject): NodeAffinityRules | Unreadable {
  const faults: Unreadable[] = [];
  const spec = at({ value: pod, path: "" }, "spec");
  const affinity = at(at(spec, "affinity"), "nodeAffinity");
  const required = at(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  const preferred = at(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  const terms = items(at(required, "nodeSelectorTerms"), faults).map((place) => readTerm(place, faults));
  const rules = {
    nodeSelector: readSelector(at(spec, "nodeSelector"), faults),
    ...((required.value ?? undefined) !== undefined && { required: terms }),
    preferred: items(preferred, faults).map((place) => {
      const weight = at(place, "weight").value ?? 0;
      if (!Number.isInteger(weight)) faults.push(new Unreadable(`${place.path}.weight`, "is not a whole number"));
      return { weight: Number(weight), preference: readTerm(at(place, "preference"), faults) };
    }),
  };
  return faults[0] ?? rules;
}

function readSelector({ value, path }: Place, faults: Unreadable[]): Labels {
  const selector = emptyMap<string>();
  const map = mapField(value, path);
  if (map instanceof Unreadable) {
    faults.push(map);
    return selector;
  }
  for (const [key, text] of Object.entries(map)) {
    if (typeof text === "string") selector[key] = text;
    else faults.push(new Unreadable(`${path}.${key}`, "is not a text"));
  }
  return selector;
}

function readTerm(place: Place, faults: Unreadable[]): NodeTerm {
  const requirements = (key: string) => items(at(place, key), faults).map((item) => readRequirement(item, faults));
  return { matchExpressions: requirements("matchExpressions"), matchFields: requirements("matchFields") };
}

function readRequirement(place: Place, faults: Unreadable[]): Requirement {
  const text = ({ value, path }: Place) => {
    if (typeof value !== "string") faults.push(new Unreadable(path, "is not a text"));
    return String(value);
  };
  return {
    key: text(at(place, "key")),
    operator: text(at(place, "operator")),
    values: items(at(place, "values"), faults).map(text),
  };
}
