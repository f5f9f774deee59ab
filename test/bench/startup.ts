import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = new URL("../..", import.meta.url).pathname;

/** What wrangler says of the Worker's start-up: the lines that have a figure. */
export async function workerStartup(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "berth-startup-"));
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        join(ROOT, "node_modules/wrangler/bin/wrangler.js"),
        "check",
        "startup",
        "--outfile",
        join(folder, "startup.cpuprofile"),
      ],
      { cwd: ROOT, env: { ...process.env, CI: "true", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false" } },
    );
    return stdout.split("\n").filter((line) => /\d+(\.\d+)?\s*(ms|KiB|KB|MiB)/.test(line));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
