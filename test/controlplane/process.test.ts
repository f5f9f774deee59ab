import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import { startProcess, waitUntilUp } from "./process.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-process-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shell = (script: string) => ({ name: "program", command: "/bin/sh", args: ["-c", script], folder });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return true;
}

describe("a started process", () => {
  it("keeps what it writes and tells how it ended", async () => {
    const running = startProcess(shell("echo out; echo err >&2; exit 3"));
    expect(await running.exited).toEqual({ code: 3, signal: null });
    expect(running.exit()).toEqual({ code: 3, signal: null });
    expect(running.logs()).toBe("out\nerr\n");
  });

  it("is stopped together with its children", async () => {
    const running = startProcess(shell("sleep 1000 & echo $!; wait"));
    const child = await eventually("the child is there", () => Number(running.logs()) || undefined);
    await running.stop();
    expect(running.exit()).toBeDefined();
    await eventually("the child is gone", () => !isRunning(child));
  });

  it("is reported with the end of its log when it ends while starting", async () => {
    const running = startProcess(shell("echo port is taken; exit 1"));
    await expect(waitUntilUp(running, async () => false)).rejects.toThrow(
      "program ended while starting:\nport is taken",
    );
  });

  it("dies, and its folder goes, when the process that started it is killed", async () => {
    const script = `
      import { startProcess } from ${JSON.stringify(join(import.meta.dirname, "process.ts"))};
      const folder = ${JSON.stringify(folder)};
      const sleeper = startProcess({ name: "sleeper", command: "sleep", args: ["1000"], folder, removeWhenAbandoned: folder });
      console.log(sleeper.pid);
      setInterval(() => {}, 1000);
    `;
    const starter = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script]);
    const [line] = await once(createInterface({ input: starter.stdout }), "line");
    const sleeper = Number(line);
    expect(isAlive(sleeper)).toBe(true);
    starter.kill("SIGKILL");
    await eventually("the folder is gone", () => !existsSync(folder));
    await eventually("the sleeper is gone", () => !isRunning(sleeper));
  });
});

/** A killed process may wait as a zombie for an init process that does not care. */
function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false;
  const status = `/proc/${pid}/status`;
  return !existsSync(status) || !/^State:\sZ/m.test(readFileSync(status, "utf8"));
}
