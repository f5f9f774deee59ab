import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { withLock } from "./lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("lets one run at a time and leaves no lock behind", async () => {
  const file = join(folder, "build.lock");
  let running = 0;
  let most = 0;
  const run = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
  };
  await Promise.all([withLock(file, run), withLock(file, run), withLock(file, run)]);
  expect(most).toBe(1);
  expect(existsSync(file)).toBe(false);
});

it("takes over the lock of a process that died", async () => {
  const file = join(folder, "build.lock");
  const { pid } = spawnSync(process.execPath, ["--version"]);
  writeFileSync(file, String(pid));
  expect(await withLock(file, async () => "ran")).toBe("ran");
});

it("gives the lock back when the run fails", async () => {
  const file = join(folder, "build.lock");
  const failing = withLock(file, async () => {
    throw new Error("broken build");
  });
  await expect(failing).rejects.toThrow("broken build");
  expect(existsSync(file)).toBe(false);
});
