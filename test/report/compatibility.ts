import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { apiServerVersion, schedulerVersions } from "../controlplane/programs.ts";
import { compatibilityPage, missingVersions, type Outcome } from "./compatibility-page.ts";

const ofVersion = / ?\b(?:with|by) kube-scheduler (\d+\.\d+\.\d+)/;
const page = join(import.meta.dirname, "..", "..", "docs", "compatibility.md");

/** Writes docs/compatibility.md from the tests of a run that name a kube-scheduler version: `npm run test:versions`. */
export default class Compatibility implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const inOrder = [...modules].sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    const outcomes = inOrder.flatMap((module) => [...module.children.allTests()].flatMap(outcomeOf));
    const run = { versions: schedulerVersions, apiServer: apiServerVersion, outcomes };
    const missing = missingVersions(run);
    if (missing.length === 0) writeFileSync(page, compatibilityPage(run));
    else process.stderr.write(`docs/compatibility.md stays as it was: nothing ran with ${missing.join(", ")}\n`);
  }
}

function outcomeOf(test: TestCase): Outcome[] {
  const names = namesOf(test);
  const version = names.map((name) => ofVersion.exec(name)?.[1]).find((found) => found !== undefined);
  if (version === undefined) return [];
  const [suite = "", ...rest] = names.map((name) => name.replace(ofVersion, "").trim()).filter((name) => name !== "");
  const seen = test.annotations().filter(({ type }) => type === "seen");
  return [
    {
      suite,
      sentence: rest.join(": "),
      version,
      state: test.result().state,
      seen: seen.map(({ message }) => message),
    },
  ];
}

/** The names of the suites around a test and its own, outermost first. */
function namesOf(test: TestCase): string[] {
  const names = [test.name];
  for (let at = test.parent; at.type === "suite"; at = at.parent) names.unshift(at.name);
  return names;
}
