import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run with one plain line, `N passed, N failed, N skipped`, for whoever reads the output by machine. Above it
 * stands every test that passed at a later attempt only: it has failed, and somebody should know.
 */
export default class Totals implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const totals = { passed: 0, failed: errors.length, skipped: 0 };
    const again: string[] = [];
    for (const module of modules) {
      // A file that failed to load has no tests that could fail.
      if (module.errors().length > 0) totals.failed++;
      // Nor has a suite whose beforeAll failed: its tests count as skipped.
      totals.failed += [...module.children.allSuites()].filter((suite) => suite.errors().length > 0).length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== "pending") totals[state]++;
        if (test.diagnostic()?.flaky)
          again.push(`passed at a later attempt only: ${module.moduleId} > ${test.fullName}`);
      }
    }
    for (const line of again) process.stdout.write(`${line}\n`);
    process.stdout.write(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
  }
}
