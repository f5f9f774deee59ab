import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { controlPlanePrograms, ensurePrograms, requirePrograms } from "./programs.ts";

let empty: string;
beforeEach(() => {
  empty = mkdtempSync(join(tmpdir(), "berth-programs-"));
  vi.stubEnv("PATH", empty);
  vi.stubEnv("XDG_CACHE_HOME", empty);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(empty, { recursive: true });
});

const reason =
  'Go is not installed (no "go" on the PATH), and etcd v1.37.2, kube-apiserver v1.37.2, kube-scheduler v1.34.4 must be built with it';

it("says that Go is missing and what for", async () => {
  expect(await ensurePrograms(controlPlanePrograms(["1.34.4"]))).toEqual({ ok: false, reason });
});

it("throws that reason where a program is required", async () => {
  await expect(requirePrograms(controlPlanePrograms(["1.34.4"]))).rejects.toThrow(reason);
});

it("needs no Go where nothing has to be built", async () => {
  expect(await ensurePrograms([])).toEqual({ ok: true });
});
