import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Where the suite's compiled policy lies; `vitest.config.ts` and `test/workerd/wrangler.toml` name it too. */
export const COMPILED = fileURLToPath(new URL("../../dist/contract/policy.json", import.meta.url));

/** Compiles the policy of this folder as a deploy would, before any test runs. */
export default async function setup(): Promise<void> {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const policy = ["--config", "test/contract/berth.yaml", "--facts", "test/contract/facts.json", "--out", COMPILED];
  await promisify(execFile)(process.execPath, ["src/cli/berth.js", "policy", "compile", ...policy], { cwd: root });
}
