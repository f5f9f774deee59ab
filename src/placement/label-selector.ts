import { field, isObject, type Json } from "../protocol/json.ts";

/** A `metav1.LabelSelector`, ready to be asked. */
export interface LabelSelector {
  /** True for a selector that asks for nothing. */
  readonly empty: boolean;
  matches(labels: Readonly<Record<string, unknown>>): boolean;
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/**
 * Reads a label selector: `LabelSelectorAsSelector`, k8s.io/apimachinery pkg/apis/meta/v1/helpers.go v0.37.2.
 *
 * Undefined for what is no valid selector, absent and null included: it selects nothing.
 */
export function readSelector(selector: Json | undefined): LabelSelector | undefined {
  if (!isObject(selector)) return undefined;
  const labels = readLabels(field(selector, "matchLabels"));
  const expressions = readExpressions(field(selector, "matchExpressions"));
  if (labels === undefined || expressions === undefined) return undefined;
  const requirements = [...labels, ...expressions];
  return {
    empty: requirements.length === 0,
    matches: (given) => requirements.every((requirement) => holds(requirement, given)),
  };
}

function readLabels(labels: Json | undefined): readonly Requirement[] | undefined {
  const entries = Object.entries(labels ?? {});
  if (!isObject(labels ?? {}) || !entries.every(([, value]) => typeof value === "string")) return undefined;
  return entries.map(([key, value]) => ({ key, operator: "In", values: [value as string] }));
}

function readExpressions(expressions: Json | undefined): readonly Requirement[] | undefined {
  if (expressions === undefined || expressions === null) return [];
  if (!Array.isArray(expressions)) return undefined;
  const read = (expressions as readonly Json[]).map(readExpression);
  return read.every((requirement) => requirement !== undefined) ? read : undefined;
}

function readExpression(expression: Json): Requirement | undefined {
  const [key, operator] = [field(expression, "key"), field(expression, "operator")];
  const values = field(expression, "values") ?? [];
  if (typeof key !== "string" || typeof operator !== "string" || !Array.isArray(values)) return undefined;
  if (!values.every((value) => typeof value === "string")) return undefined;
  const takesValues = operator === "In" || operator === "NotIn";
  const known = takesValues || operator === "Exists" || operator === "DoesNotExist";
  return known && takesValues === values.length > 0 ? { key, operator, values } : undefined;
}

function holds({ key, operator, values }: Requirement, labels: Readonly<Record<string, unknown>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return typeof value === "string" && values.includes(value);
    case "NotIn":
      return typeof value !== "string" || !values.includes(value);
    case "Exists":
      return value !== undefined;
    default:
      return value === undefined;
  }
}
