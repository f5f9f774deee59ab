import * as z from "zod";
import { definePlugin, type Rejection } from "../plugin.ts";
import { type Labels, nodeLabels } from "../views/labels.ts";

const labelValues = z.record(z.string().min(1), z.array(z.string()));

const args = z.strictObject({
  require: labelValues.default({}).meta({
    description: "labels a node must have, each with one of the values; an empty list takes any value",
  }),
  forbid: labelValues.default({}).meta({
    description: "labels a node must not have with one of the values; an empty list forbids the label altogether",
  }),
  prefer: z
    .record(z.string().min(1), z.array(z.string()).min(1))
    .default({})
    .meta({ description: "values in falling order of preference: the first scores 100, a value not listed 0" }),
});

type Args = z.infer<typeof args>;

const MISSING: Rejection = { reason: "node(s) didn't have a label that the policy requires", unresolvable: true };
const FORBIDDEN: Rejection = { reason: "node(s) had a label that the policy forbids", unresolvable: true };

/** Keeps, refuses and prefers nodes by their labels. */
export const nodeLabel = definePlugin({
  name: "NodeLabel",
  version: 1,
  doc:
    "Keeps nodes that have the required labels, refuses nodes that have forbidden ones, and prefers nodes by the " +
    "values of others. For rules that all pods of a profile share; what one pod wants belongs in its own node affinity.",
  maturity: "beta",
  args,
  scale: "none",
  reads: ({ require, forbid, prefer }) => ({
    node: { labels: nodeLabels([...Object.keys(require), ...Object.keys(forbid), ...Object.keys(prefer)]) },
  }),
  prepare: ({ require, forbid, prefer }: Args) => {
    const required = Object.entries(require);
    const forbidden = Object.entries(forbid);
    const preferred = Object.entries(prefer);
    return {
      filter: ({ labels }: { labels: Labels }) => {
        if (!required.every(([key, values]) => has(labels, key, values))) return MISSING;
        return forbidden.some(([key, values]) => has(labels, key, values)) ? FORBIDDEN : undefined;
      },
      ...(preferred.length > 0 && { score: ({ labels }: { labels: Labels }) => meanPreference(labels, preferred) }),
    };
  },
});

function has(labels: Labels, key: string, values: readonly string[]): boolean {
  const value = labels[key];
  return value !== undefined && (values.length === 0 || values.includes(value));
}

/** The mean over the preferred labels, of which there is at least one. */
function meanPreference(labels: Labels, preferred: readonly [string, readonly string[]][]): number {
  const sum = preferred.reduce((total, [key, values]) => total + preference(labels[key], values), 0);
  return sum / preferred.length;
}

function preference(value: string | undefined, values: readonly string[]): number {
  const place = value === undefined ? -1 : values.indexOf(value);
  return place < 0 ? 0 : 100 * (1 - place / values.length);
}
