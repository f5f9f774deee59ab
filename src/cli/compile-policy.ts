import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { PolicyFilesError, readPolicyFiles } from "../adapters/policy-files.ts";
import { registry } from "../policy/registry.ts";

/**
 * Checks berth.yaml and facts.json and writes both as data for the Worker's bundle. wrangler runs it before every
 * build, so a fault stops a deploy before anything ships.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      config: { type: "string", default: "berth.yaml" },
      facts: { type: "string", default: "facts.json" },
      out: { type: "string", default: "dist/policy.json" },
    },
  });
  const compiled = await readPolicyFiles({ configFile: values.config, factsFile: values.facts }, registry);
  await mkdir(dirname(values.out), { recursive: true });
  // Replaced in one step: a bundler that watches must never read half a file.
  await writeFile(`${values.out}.${process.pid}`, JSON.stringify(compiled));
  await rename(`${values.out}.${process.pid}`, values.out);
}

main().catch((error: unknown) => {
  if (!(error instanceof PolicyFilesError)) throw error;
  process.stderr.write(`The policy has faults; nothing was built.\n${error.message}\n`);
  process.exitCode = 1;
});
