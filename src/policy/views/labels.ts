import * as z from "zod";
import { field, type Json } from "../../protocol/json.ts";
import { mapPath } from "../../protocol/paths.ts";
import { Unreadable, type View } from "../view.ts";
import { emptyMap, mapField, mapOf } from "./maps.ts";

/** Labels or annotations. Without a prototype: `labels[key]` is the value or undefined, whatever the key. */
export type Labels = Readonly<Record<string, string>>;

const labels = mapOf(z.string());

/** Repeats the whole object as text: no decision may depend on it, and nobody keeps it of pods or sends it on. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The labels of the pod. */
export const podLabels = labelsView({ name: "podLabels", of: "pod", field: "labels" });

/** The annotations of the pod, but for {@link LAST_APPLIED}. */
export const podAnnotations = labelsView({ name: "podAnnotations", of: "pod", field: "annotations" });

/**
 * The node's labels, all of them or, better, only those with the given keys: nodes that differ in others then read
 * alike. The keys are part of the view's name.
 */
export function nodeLabels(keys?: readonly string[]): View<Labels> {
  return labelsView({ name: "nodeLabels", of: "node", field: "labels" }, keys);
}

/** The node's annotations, all of them or only those with the given keys, as {@link nodeLabels}. */
export function nodeAnnotations(keys?: readonly string[]): View<Labels> {
  return labelsView({ name: "nodeAnnotations", of: "node", field: "annotations" }, keys);
}

interface Kind {
  readonly name: string;
  readonly of: "pod" | "node";
  readonly field: "labels" | "annotations";
}

function labelsView(kind: Kind, keys?: readonly string[]): View<Labels> {
  const chosen = keys && [...new Set(keys)].sort();
  const path = `metadata.${kind.field}`;
  return {
    name: chosen ? `${kind.name}(${chosen.join(",")})` : kind.name,
    of: kind.of,
    pace: "slow",
    doc: `The ${kind.of}'s ${kind.field}${chosen ? ` ${chosen.join(", ")}` : ""}.`,
    paths: [chosen ? mapPath(path, chosen) : path],
    fact: labels,
    read: (object) => {
      const picked = pick(field(field(object, "metadata"), kind.field), path, chosen);
      if (kind.of === "pod" && !(picked instanceof Unreadable)) delete (picked as Record<string, string>)[LAST_APPLIED];
      return picked;
    },
  };
}

/** The string values of a map; values of other types are no labels and are passed over. */
function pick(value: Json | undefined, path: string, keys: readonly string[] | undefined): Labels | Unreadable {
  const map = mapField(value, path);
  if (map instanceof Unreadable) return map;
  const picked = emptyMap<string>();
  for (const key of keys ?? Object.keys(map)) {
    const text = Object.hasOwn(map, key) ? map[key] : undefined;
    if (typeof text === "string") picked[key] = text;
  }
  return picked;
}
