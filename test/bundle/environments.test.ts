import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { dryRun } from "../contract/wrangler.ts";

const work = await mkdtemp(join(tmpdir(), "berth-environments-"));
afterAll(() => rm(work, { recursive: true }));

// A deploy needs an account; this is what it would ship.
describe("wrangler.toml", () => {
  it.each(["dev", "production"])(
    "would deploy the environment %s without a word of warning",
    async (environment) => {
      const { code, output } = await dryRun(join(work, environment), ["--env", environment]);
      expect(output).toContain("--dry-run: exiting now");
      expect(output).not.toMatch(/warning/i);
      expect(code).toBe(0);
      // As in the bundle without an environment: nothing can make code out of text.
      expect(await readFile(join(work, environment, "workers.js"), "utf8")).not.toMatch(/\bnew Function\b|\beval\(/);
    },
    120_000,
  );
});
