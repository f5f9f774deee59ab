import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../", import.meta.url));
const wrangler = fileURLToPath(new URL("../../node_modules/wrangler/bin/wrangler.js", import.meta.url));

/** How a command ended. */
export interface Ended {
  readonly code: number;
  /** Standard output and standard error. */
  readonly output: string;
}

/**
 * Builds a Worker as a deploy would and ships nothing.
 *
 * @param into where the bundle is written
 * @param options further arguments, such as `--config`
 * @param folder where wrangler runs; this repository when not given
 */
export async function dryRun(into: string, options: readonly string[] = [], folder: string = root): Promise<Ended> {
  const args = [wrangler, "deploy", "--dry-run", "--outdir", into, ...options];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}
