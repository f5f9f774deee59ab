import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schedulerVersions } from "../controlplane/programs.ts";
import { compatibilityPage, isUntouched, missingVersions, type Outcome } from "./compatibility-page.ts";
import { isTestSentence } from "./sentences.ts";

const root = join(import.meta.dirname, "..", "..");

describe("a page of what was seen with each version", () => {
  const outcome = (version: string, more: Partial<Outcome> = {}): Outcome => ({
    suite: "a function",
    sentence: "answers",
    version,
    state: "passed",
    seen: [],
    ...more,
  });
  const page = (outcomes: readonly Outcome[]): string =>
    compatibilityPage({ versions: ["1.1.1", "1.2.2", "1.3.3"], apiServer: "1.3.3", outcomes });

  it("has a row for each test and a column for each version, and says what was not run", () => {
    const written = page([outcome("1.1.1"), outcome("1.2.2", { state: "failed" })]);
    expect(written).toContain("| a function … | 1.1.1 | 1.2.2 | 1.3.3 |\n|---|---|---|---|\n");
    expect(written).toContain("| answers | yes | **no** | not run |\n");
  });

  it("never says yes where one of several tests with the same sentence did not hold", () => {
    const twice = [outcome("1.1.1"), outcome("1.1.1", { state: "failed" }), outcome("1.2.2"), outcome("1.2.2")];
    expect(page(twice)).toContain("| answers | **no** | yes | not run |\n");
  });

  it("tells what tests saw, once for versions that saw the same", () => {
    const seen = (version: string, note: string): Outcome => outcome(version, { seen: [note] });
    const written = page([seen("1.1.1", "busy 25"), seen("1.2.2", "busy 25"), seen("1.3.3", "busy 91 | idle 91")]);
    expect(written).toContain("\n- answers\n  - 1.1.1, 1.2.2: busy 25\n  - 1.3.3: busy 91 \\| idle 91\n");
  });

  it("is not worth writing when no test has run with a version", () => {
    const outcomes = [outcome("1.1.1"), outcome("1.2.2", { state: "skipped" })];
    const run = { versions: ["1.1.1", "1.2.2", "1.3.3"], apiServer: "1.3.3", outcomes };
    expect(missingVersions(run)).toEqual(["1.2.2", "1.3.3"]);
    expect(missingVersions({ ...run, versions: ["1.1.1"] })).toEqual([]);
  });

  it("shows an edit by hand", () => {
    const written = page([outcome("1.1.1", { state: "failed" })]);
    expect(isUntouched(written)).toBe(true);
    expect(isUntouched(written.replace("**no**", "yes"))).toBe(false);
    expect(isUntouched(`${written}\nand more`)).toBe(false);
  });
});

describe("docs/compatibility.md", () => {
  const page = readFileSync(join(root, "docs/compatibility.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| "));

  it("is as `npm run test:versions` has written it, for the versions that are served", () => {
    expect(isUntouched(page)).toBe(true);
    const heads = rows.filter((line) => line.includes(" … | "));
    for (const head of heads) expect(head.split(" | ").slice(1).join(" | ")).toBe(`${schedulerVersions.join(" | ")} |`);
  });

  it("has no row for a test that is gone", () => {
    const told = rows.filter((line) => !line.includes(" … | ")).map((line) => line.slice(2).split(" | ")[0] ?? "");
    expect(told.length).toBeGreaterThan(0);
    const parts = told.flatMap((row) => row.split(/(?<=^to requests recorded): /));
    expect(parts.filter((part) => !isTestSentence(part))).toEqual([]);
  });
});
