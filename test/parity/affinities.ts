import fc from "fast-check";
import type { JsonObject } from "../../src/protocol/json.ts";

const value = fc.constantFrom("a", "b", "c");

const expression: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    key: fc.constantFrom("zone", "disk"),
    operator: fc.constantFrom("In", "In", "NotIn"),
    values: fc.array(value, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ key: fc.constantFrom("zone", "disk", "cores"), operator: fc.constantFrom("Exists", "DoesNotExist") }),
  fc.record({
    key: fc.constant("cores"),
    operator: fc.constantFrom("Gt", "Lt"),
    values: fc.constantFrom(["8"], ["4"], ["0"], ["15"]),
  }),
);

const name = (nodes: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.record({
    key: fc.constant("metadata.name"),
    operator: fc.constantFrom("In", "In", "NotIn"),
    values: fc.tuple(fc.constantFrom(...nodes)),
  });

const term = (nodes: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ matchExpressions: fc.array(expression, { minLength: 1, maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ matchFields: fc.array(name(nodes), { minLength: 1, maxLength: 2 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        matchExpressions: fc.array(expression, { minLength: 1, maxLength: 1 }),
        matchFields: fc.tuple(name(nodes)),
      }),
    },
    { weight: 1, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constantFrom(...nodes).map((node) => ({ matchFields: [named(node), named("n-x")] })) },
  );

function named(node: string): JsonObject {
  return { key: "metadata.name", operator: "In", values: [node] };
}

/** Labels that a pod asks for. */
export const nodeSelector: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom("zone", "disk"), value, {
  maxKeys: 1,
});

/** Terms of which one has to match; now and then none at all. */
export function requiredTerms(nodes: readonly string[]): fc.Arbitrary<JsonObject[]> {
  return fc.array(term(nodes), { maxLength: 3 });
}

/** Terms with weights. */
export function preferredTerms(nodes: readonly string[]): fc.Arbitrary<JsonObject[]> {
  return fc.array(fc.record({ weight: fc.integer({ min: 1, max: 100 }), preference: term(nodes) }), {
    minLength: 1,
    maxLength: 3,
  });
}

/** The part of a pod's spec that holds them. */
export function nodeAffinity(
  required: JsonObject[] | undefined,
  preferred: JsonObject[] | undefined,
): { affinity?: JsonObject } {
  if (!required && !preferred) return {};
  return {
    affinity: {
      nodeAffinity: {
        ...(required && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required } }),
        ...(preferred && { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
      },
    },
  };
}
