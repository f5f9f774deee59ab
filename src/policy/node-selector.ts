import type { Labels } from "./views/labels.ts";
import type { NodeTerm, Requirement } from "./views/node-affinity.ts";

/** Says whether a node matches, by its labels and its name. */
export type NodeMatch = (labels: Labels, name: string) => boolean;

/**
 * Matches nodes of which one term holds, as `k8s.io/component-helpers` scheduling/corev1/nodeaffinity v0.37.2: a term
 * without requirements matches nothing, and neither does one that cannot be understood.
 */
export function matchAny(terms: readonly NodeTerm[]): NodeMatch {
  const matches = terms.flatMap((term) => matchTerm(term) ?? []);
  return (labels, name) => matches.some((match) => match(labels, name));
}

/** Matches nodes for which every requirement of a term holds; undefined for a term that matches no node. */
export function matchTerm({ matchExpressions, matchFields }: NodeTerm): NodeMatch | undefined {
  if (matchExpressions.length + matchFields.length === 0) return undefined;
  if (termProblem({ matchExpressions, matchFields }) !== undefined) return undefined;
  const tests = matchExpressions.map(labelTest);
  return (labels, name) => tests.every((test) => test(labels)) && matchFields.every((field) => holds(field, name));
}

/** Why a term cannot be understood, in a few words that end an error sentence; undefined when it can. */
export function termProblem({ matchExpressions, matchFields }: NodeTerm): string | undefined {
  for (const requirement of matchExpressions) {
    const problem = expressionProblem(requirement);
    if (problem !== undefined) return `has a requirement on ${JSON.stringify(requirement.key)} that ${problem}`;
  }
  const field = matchFields.find(({ operator, values }) => !FIELD_OPERATORS.has(operator) || values.length !== 1);
  return field && `has a requirement on field ${JSON.stringify(field.key)} that is not In or NotIn with one value`;
}

const FIELD_OPERATORS: ReadonlySet<string> = new Set(["In", "NotIn"]);

/** The only field of a node that a term can name. */
export const NAME_FIELD = "metadata.name";

/** A field that a node has not reads as the empty text: `fields.Set.Get` of k8s.io/apimachinery, v0.37.2. */
function holds({ key, operator, values }: Requirement, name: string): boolean {
  return ((key === NAME_FIELD ? name : "") === values[0]) === (operator === "In");
}

/** `NewRequirement` of `k8s.io/apimachinery` pkg/labels/selector.go, v0.37.2. */
function expressionProblem({ key, operator, values }: Requirement): string | undefined {
  if (!isLabelKey(key)) return "is no key of a label";
  if (values.some((value) => !isLabelValue(value))) return "has a value that no label can have";
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0 ? undefined : "lists no values";
    case "Exists":
    case "DoesNotExist":
      return values.length === 0 ? undefined : `has values, which ${operator} takes none of`;
    case "Gt":
    case "Lt":
      return values.length === 1 && readInteger(values[0]) !== undefined ? undefined : "is not one whole number";
    default:
      return `has the operator ${JSON.stringify(operator)}: In, NotIn, Exists, DoesNotExist, Gt and Lt are known`;
  }
}

/** `Matches` there. */
function labelTest({ key, operator, values }: Requirement): (labels: Labels) => boolean {
  switch (operator) {
    case "In":
      return (labels) => labels[key] !== undefined && values.includes(labels[key]);
    case "NotIn":
      return (labels) => labels[key] === undefined || !values.includes(labels[key]);
    case "Exists":
      return (labels) => labels[key] !== undefined;
    case "DoesNotExist":
      return (labels) => labels[key] === undefined;
    default:
      return (labels) => compare(readInteger(labels[key]), operator, readInteger(values[0]));
  }
}

function compare(label: bigint | undefined, operator: string, bound: bigint | undefined): boolean {
  if (label === undefined || bound === undefined) return false;
  return operator === "Gt" ? label > bound : label < bound;
}

/** `strconv.ParseInt` in base 10 with 64 bits. */
function readInteger(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,30}$/.test(text)) return undefined;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  return NAME.test(key.slice(slash + 1)) && (slash < 0 || PREFIX.test(key.slice(0, slash)));
}

function isLabelValue(value: string): boolean {
  return value === "" || NAME.test(value);
}
