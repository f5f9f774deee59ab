import * as z from "zod";
import { matchAny, matchTerm, NAME_FIELD, type NodeMatch, termProblem } from "../node-selector.ts";
import { definePlugin, type Rejection } from "../plugin.ts";
import { nodeName } from "../views/identity.ts";
import { type Labels, nodeLabels } from "../views/labels.ts";
import { type NodeAffinityRules, type NodeTerm, podNodeAffinity } from "../views/node-affinity.ts";

const requirement = z.strictObject({
  key: z.string(),
  operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
  values: z.array(z.string()).default([]),
});

const term = z
  .strictObject({ matchExpressions: z.array(requirement).default([]), matchFields: z.array(requirement).default([]) })
  .superRefine((value, context) => {
    const problem = termProblem(value);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

const args = z.strictObject({
  addedAffinity: z
    .strictObject({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .strictObject({ nodeSelectorTerms: z.array(term).min(1) })
        .optional()
        .meta({ description: "nodes that every pod of the profile is confined to" }),
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(z.strictObject({ weight: z.int().min(1).max(100), preference: term }))
        .default([])
        .meta({ description: "nodes that every pod of the profile prefers" }),
    })
    .prefault({})
    .meta({ description: "node affinity that is added to every pod's own" }),
});

const OTHER: Rejection = { reason: "node(s) didn't match Pod's node affinity/selector", unresolvable: true };
const ENFORCED: Rejection = { reason: "node(s) didn't match scheduler-enforced node affinity", unresolvable: true };
const CONFLICT: Rejection = { reason: "pod affinity terms conflict", unresolvable: true };
interface Node {
  readonly labels: Labels;
  readonly name: string;
}

/** As kube-scheduler's plugin of the name: plugins/nodeaffinity, v1.37.2. */
export const nodeAffinity = definePlugin({
  name: "NodeAffinity",
  version: 1,
  doc:
    "Keeps the nodes that the pod's nodeSelector and required node affinity ask for, and prefers those that match " +
    "more of its preferred terms, by weight. addedAffinity confines or attracts all pods of the profile.",
  maturity: "beta",
  args,
  scale: "max",
  reads: () => ({ pod: { rules: podNodeAffinity }, node: { labels: nodeLabels(), name: nodeName } }),
  prepare: ({ addedAffinity }, { rules }) => {
    const added = addedAffinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    const filter = nodeFilter(rules, added);
    const score = nodeScore([...addedAffinity.preferredDuringSchedulingIgnoredDuringExecution, ...rules.preferred]);
    return { ...(filter && { filter }), ...(score && { score }) };
  },
});

function nodeFilter(
  rules: NodeAffinityRules,
  added: readonly NodeTerm[] | undefined,
): ((node: Node) => Rejection | undefined) | undefined {
  const wanted = Object.entries(rules.nodeSelector);
  if (wanted.length === 0 && rules.required === undefined && added === undefined) return undefined;
  if (namesConflict(rules.required ?? [])) return () => CONFLICT;
  const enforced = added && matchAny(added);
  const required = rules.required && matchAny(rules.required);
  return ({ labels, name }) => {
    if (enforced && !enforced(labels, name)) return ENFORCED;
    const selected = wanted.every(([key, value]) => labels[key] === value);
    return selected && (!required || required(labels, name)) ? undefined : OTHER;
  };
}

/** Sums the weights of the terms that match; undefined where there are none to match. */
function nodeScore(
  terms: readonly { readonly weight: number; readonly preference: NodeTerm }[],
): ((node: Node) => number) | undefined {
  if (terms.length === 0) return undefined;
  const weighed = terms.flatMap(({ weight, preference }): [number, NodeMatch][] => {
    const match = matchTerm(preference);
    return match ? [[weight, match]] : [];
  });
  return ({ labels, name }) => weighed.reduce((sum, [weight, match]) => (match(labels, name) ? sum + weight : sum), 0);
}

/** True where every term lists names of nodes that exclude each other. */
function namesConflict(terms: readonly NodeTerm[]): boolean {
  return terms.length > 0 && terms.every(listsNoName);
}

/** True for a term that lists names, and none of them in every list. */
function listsNoName({ matchFields }: NodeTerm): boolean {
  const lists = matchFields.filter(({ key, operator }) => key === NAME_FIELD && operator === "In");
  const [first, ...others] = lists;
  return first !== undefined && !first.values.some((name) => others.every(({ values }) => values.includes(name)));
}
