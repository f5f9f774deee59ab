import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { eventually } from "../controlplane/eventually.ts";

vi.setConfig({ testTimeout: 180_000 });

const root = join(import.meta.dirname, "..", "..");
const ENTER = "\r";
const DOWN = "\u001b[B";
const CTRL_C = "\u0003";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-init-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** `berth init` on a terminal of its own, which script(1) of util-linux gives it; stty says how wide it is. */
async function onTerminal(
  kit: string,
  answers: readonly (readonly [question: string, keys: string])[],
): Promise<string> {
  const command = `stty cols 100 rows 40; ${process.execPath} ${join(root, "src/cli/berth.js")} init ${kit}`;
  const child: ChildProcess = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  child.stdout?.on("data", (part: Buffer) => {
    said += part.toString("utf8");
  });
  const exited = once(child, "exit");
  try {
    for (const [question, keys] of answers) {
      await eventually(question, () => stripVTControlCharacters(said).includes(question), { within: 60_000 });
      child.stdin?.write(keys);
    }
    await exited;
  } finally {
    child.kill();
  }
  return stripVTControlCharacters(said);
}

describe("berth init on a terminal", () => {
  it("asks what the options leave open, and writes the kit that the answers describe", async () => {
    const said = await onTerminal("kit", [
      ["How shall they work together?", `${DOWN}${DOWN}${ENTER}`],
      ["What runs the control plane?", `${DOWN}${ENTER}`],
      ["Which Kubernetes version?", ENTER],
      ["Where does the function run?", ENTER],
      ["A free address", `10.96.0.200${ENTER}`],
    ]);
    expect(said).toContain("kubectl apply -k kit");
    const scheduler = await readFile(join(folder, "kit/scheduler.yaml"), "utf8");
    expect(scheduler).toContain("urlPrefix: https://10.96.0.200/default");
    expect(scheduler).toContain("bindVerb: bind");
    expect(scheduler).toContain("/var/lib/rancher/k3s/");
  });

  it("writes nothing when it is stopped with Ctrl-C", async () => {
    const said = await onTerminal("stopped", [
      ["How shall they work together?", ENTER],
      ["What runs the control plane?", CTRL_C],
    ]);
    expect(said).toContain("Nothing was written.");
    expect(existsSync(join(folder, "stopped"))).toBe(false);
  });
});
