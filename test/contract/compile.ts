import { fileURLToPath } from "node:url";
import { compilePolicy } from "../../src/cli/policy.ts";

/** Where the suite's compiled policy lies; `vitest.config.ts` and `test/workerd/wrangler.toml` name it too. */
export const COMPILED = fileURLToPath(new URL("../../dist/contract/policy.json", import.meta.url));

/** Compiles the policy of this folder as a deploy would, before any test runs. */
export default async function setup(): Promise<void> {
  const [config, facts] = ["berth.yaml", "facts.json"].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  await compilePolicy({ config: config ?? "", facts: facts ?? "", out: COMPILED });
}
