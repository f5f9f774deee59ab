import { describe, expect, it } from "vitest";
import { matchAny, matchTerm, termProblem } from "./node-selector.ts";

const term = (operator: string, ...values: string[]) => ({
  matchExpressions: [{ key: "cores", operator, values }],
  matchFields: [],
});
const field = (operator: string, ...values: string[]) => ({
  matchExpressions: [],
  matchFields: [{ key: "metadata.name", operator, values }],
});

describe("operators on labels", () => {
  it.each([
    ["In", ["4", "8"], { cores: "8" }, true],
    ["In", ["4", "8"], { cores: "16" }, false],
    ["In", ["4"], {}, false],
    ["NotIn", ["4"], { cores: "8" }, true],
    ["NotIn", ["4"], { cores: "4" }, false],
    ["NotIn", ["4"], {}, true],
    ["Exists", [], { cores: "" }, true],
    ["Exists", [], {}, false],
    ["DoesNotExist", [], {}, true],
    ["DoesNotExist", [], { cores: "" }, false],
    ["Gt", ["8"], { cores: "16" }, true],
    ["Gt", ["8"], { cores: "8" }, false],
    ["Lt", ["8"], { cores: "+4" }, true],
    ["Lt", ["8"], { cores: "-4" }, true],
    ["Lt", ["8"], { cores: "8" }, false],
    ["Lt", ["8"], { cores: "four" }, false],
    ["Gt", ["8"], { cores: "99999999999999999999" }, false],
    ["Gt", ["8"], {}, false],
  ] as const)("%s %j of %j is %s", (operator, values, labels, expected) => {
    expect(matchTerm(term(operator, ...values))?.(labels, "n")).toBe(expected);
  });
});

it("compares the node's name by In and NotIn", () => {
  expect(matchTerm(field("In", "a"))?.({}, "a")).toBe(true);
  expect(matchTerm(field("In", "a"))?.({}, "b")).toBe(false);
  expect(matchTerm(field("NotIn", "a"))?.({}, "b")).toBe(true);
});

it("needs all requirements of a term, and one of several terms", () => {
  const both = { ...term("Exists"), matchFields: field("In", "a").matchFields };
  expect(matchTerm(both)?.({ cores: "1" }, "a")).toBe(true);
  expect(matchTerm(both)?.({ cores: "1" }, "b")).toBe(false);
  expect(matchAny([both, term("DoesNotExist")])({}, "b")).toBe(true);
  expect(matchAny([])({}, "b")).toBe(false);
});

it("passes over a term that cannot be understood, and says what is wrong with it", () => {
  for (const bad of [
    term("In"),
    term("Exists", "x"),
    term("Gt", "1", "2"),
    term("Gt", "one"),
    term("Near", "1"),
    term("In", "no label value!"),
    { matchExpressions: [{ key: "/x", operator: "Exists", values: [] }], matchFields: [] },
    field("In", "a", "b"),
    field("Exists"),
  ]) {
    expect(matchTerm(bad)).toBeUndefined();
    expect(termProblem(bad)).toMatch(/^has a requirement on /);
    expect(matchAny([bad, term("DoesNotExist")])({}, "n")).toBe(true);
  }
});
