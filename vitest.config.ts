import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Files that start whole servers: they run after the quick ones, one file at a time on two cores. */
const E2E = "test/e2e/**/*.test.ts";

export default defineConfig({
  test: {
    reporters: ["default", "./test/report/totals.ts"],
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [E2E, "test/workerd/**"],
          testTimeout: 30_000,
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./test/workerd/wrangler.toml" } })],
        test: { name: "workerd", include: ["test/workerd/**/*.test.ts"], testTimeout: 30_000 },
      },
      {
        test: {
          name: "e2e",
          include: [E2E],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
