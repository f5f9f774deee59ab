import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { SECRETS } from "./test/contract/secrets.ts";

/** Files that start whole servers: they run after the quick ones, one file at a time on two cores. */
const E2E = "test/e2e/**/*.test.ts";

/** Workers under test decide by the contract suite's policy. */
const contractPolicy = {
  resolve: { alias: { "#policy": fileURLToPath(new URL("./dist/contract/policy.json", import.meta.url)) } },
};
const compiles = { globalSetup: "./test/contract/compile.ts" };

// Nothing is asked of the network, and nothing is told to it.
process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
process.env["WRANGLER_SEND_METRICS"] ??= "false";

export default defineConfig({
  test: {
    reporters: ["default", "./test/report/totals.ts"],
    projects: [
      {
        ...contractPolicy,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: [E2E, "test/workerd/**"],
          testTimeout: 30_000,
          ...compiles,
        },
      },
      {
        ...contractPolicy,
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./test/workerd/wrangler.toml" },
            miniflare: { bindings: SECRETS },
          }),
        ],
        test: { name: "workerd", include: ["test/workerd/**/*.test.ts"], testTimeout: 30_000, ...compiles },
      },
      {
        test: {
          name: "e2e",
          include: [E2E],
          fileParallelism: false,
          // Real clocks on shared machines: one more attempt, told in the totals. Only in CI, so that nobody gets used to it.
          retry: process.env["CI"] ? 1 : 0,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
