import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { apiServerVersion } from "../controlplane/programs.ts";
import { gated } from "./gate.ts";

const BENCH = fileURLToPath(new URL("../bench/run.ts", import.meta.url));

await gated(
  "the benchmark",
  [
    { name: "goextender", version: apiServerVersion },
    { name: "goextender-jsonv2", version: apiServerVersion },
  ],
  () => {
    it("runs all rivals, finds that they decide alike, and prints a row for each", async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [BENCH, "--smoke"], { timeout: 110_000 });
      for (const rival of ["Berth on Node", "Go, encoding/json", "Go, GOEXPERIMENT=jsonv2"]) {
        expect(stdout.split(rival)).toHaveLength(3);
      }
      expect(stdout).toMatch(/load \d/);
    });
  },
);
