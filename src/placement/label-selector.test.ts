import { describe, expect, it } from "vitest";
import type { Json } from "../protocol/json.ts";
import { readSelector } from "./label-selector.ts";

const matches = (selector: Json, labels: Record<string, string>) => readSelector(selector)?.matches(labels);
const expression = (operator: string, ...values: string[]) => ({
  matchExpressions: [{ key: "app", operator, ...(values.length > 0 && { values }) }],
});

describe("a label selector", () => {
  it("matches when every label has its value", () => {
    const selector = { matchLabels: { app: "web", tier: "front" } };
    expect(matches(selector, { app: "web", tier: "front", more: "x" })).toBe(true);
    expect(matches(selector, { app: "web" })).toBe(false);
    expect(matches(selector, { app: "web", tier: "back" })).toBe(false);
  });

  it("matches In only with the label, NotIn also without it", () => {
    expect(matches(expression("In", "web", "api"), { app: "api" })).toBe(true);
    expect(matches(expression("In", "web"), { app: "api" })).toBe(false);
    expect(matches(expression("In", "web"), {})).toBe(false);
    expect(matches(expression("NotIn", "web"), { app: "api" })).toBe(true);
    expect(matches(expression("NotIn", "web"), { app: "web" })).toBe(false);
    expect(matches(expression("NotIn", "web"), {})).toBe(true);
  });

  it("matches Exists and DoesNotExist by the label alone", () => {
    expect(matches(expression("Exists"), { app: "" })).toBe(true);
    expect(matches(expression("Exists"), {})).toBe(false);
    expect(matches(expression("DoesNotExist"), {})).toBe(true);
    expect(matches(expression("DoesNotExist"), { app: "" })).toBe(false);
  });

  it("needs labels and expressions to hold together", () => {
    const selector = { matchLabels: { tier: "front" }, ...expression("In", "web") };
    expect(matches(selector, { app: "web", tier: "front" })).toBe(true);
    expect(matches(selector, { app: "web" })).toBe(false);
  });

  it("is empty when it asks for nothing", () => {
    for (const selector of [
      {},
      { matchLabels: {}, matchExpressions: [] },
      { matchLabels: null, matchExpressions: null },
    ]) {
      expect(readSelector(selector)?.empty).toBe(true);
    }
    expect(readSelector(expression("Exists"))?.empty).toBe(false);
  });

  it("never mistakes a prototype's field for a label", () => {
    expect(matches({ matchExpressions: [{ key: "constructor", operator: "Exists" }] }, {})).toBe(false);
  });

  it("is nothing when it is absent or not valid", () => {
    const invalid: (Json | undefined)[] = [
      ...[undefined, null, "app=web", [], { matchLabels: [] }, { matchLabels: "x" }, { matchLabels: { app: 5 } }],
      ...[{ matchExpressions: {} }, { matchExpressions: [null] }, { matchExpressions: [{ key: "app" }] }],
      ...[expression("In"), expression("NotIn"), expression("Exists", "web"), expression("Like", "web")],
      { matchExpressions: [{ key: "app", operator: "In", values: [5] }] },
      { matchExpressions: [{ key: "app", operator: "In", values: "web" }] },
    ];
    for (const selector of invalid) expect(readSelector(selector), JSON.stringify(selector)).toBeUndefined();
  });
});
