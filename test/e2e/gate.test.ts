import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { e2eVersions } from "./gate.ts";

const root = join(import.meta.dirname, "../..");

describe("where Go is missing", () => {
  let empty: string;
  beforeEach(() => {
    empty = mkdtempSync(join(tmpdir(), "berth-gate-"));
  });
  afterEach(() => rmSync(empty, { recursive: true }));

  async function runSuite(env: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string }> {
    const args = [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--project=e2e",
      "test/e2e/controlplane.test.ts",
    ];
    const { CI: _ci, ...outer } = process.env;
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...outer, PATH: empty, XDG_CACHE_HOME: empty, NO_COLOR: "1", ...env },
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    return { code: child.exitCode, output: out + err };
  }

  it("an end-to-end suite is skipped and says why", async () => {
    const { code, output } = await runSuite({});
    expect(output).toContain("skipped: the control plane for tests: Go is not installed");
    expect(output).toContain("1 skipped");
    expect(code).toBe(0);
  });

  it("an end-to-end suite fails in CI", async () => {
    const { code, output } = await runSuite({ CI: "1" });
    expect(output).toContain("Go is not installed");
    expect(output).toContain("CI is set, so this is a failure");
    expect(code).toBe(1);
  });
});

describe("the versions that end-to-end tests run on", () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ["", ["1.34.4", "1.37.2"]],
    ["all", ["1.34.4", "1.35.4", "1.36.3", "1.37.2"]],
    ["1.35.4,1.36.3", ["1.35.4", "1.36.3"]],
  ])("are, with BERTH_E2E_VERSIONS=%j, %j", (value, versions) => {
    vi.stubEnv("BERTH_E2E_VERSIONS", value);
    expect(e2eVersions()).toEqual(versions);
  });

  it("are refused when one of them is not served", () => {
    vi.stubEnv("BERTH_E2E_VERSIONS", "1.37.2,1.20.0");
    expect(() => e2eVersions()).toThrow("BERTH_E2E_VERSIONS: 1.20.0 not among 1.34.4, 1.35.4, 1.36.3, 1.37.2");
  });
});
