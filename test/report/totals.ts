import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with one plain line, `N passed, N failed, N skipped`, for whoever reads the output by machine. */
export default class Totals implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const totals = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      // A file that failed to load has no tests that could fail.
      if (module.errors().length > 0) totals.failed++;
      // Nor has a suite whose beforeAll failed: its tests count as skipped.
      totals.failed += [...module.children.allSuites()].filter((suite) => suite.errors().length > 0).length;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state !== "pending") totals[state]++;
      }
    }
    process.stdout.write(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
  }
}
