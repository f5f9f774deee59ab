import { existsSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { CommandError } from "../command-error.ts";
import { SECRET_NAME } from "./answers.ts";
import type { KitFile } from "./files.ts";

/**
 * wrangler.toml for a kit: that of this release, with its paths as they are from the kit's folder, and the kit's own policy
 * in the bundle.
 *
 * @param root where this release has its wrangler.toml
 * @param folder the kit's
 * @throws {CommandError} when this release has none: a Worker is bundled from a checkout
 */
export function wranglerFile(root: string, folder: string): KitFile {
  const path = (to: string) => relative(folder, join(root, to)).split(sep).join("/");
  // wrangler runs it where it was started itself.
  const command = `cd ${JSON.stringify(folder)} && node ${path("src/cli/berth.js")} policy compile --config berth.yaml --facts facts.json --out policy.json`;
  if (!existsSync(join(root, "wrangler.toml"))) {
    throw new CommandError("a function on Workers is deployed from a checkout, with wrangler: run berth init there");
  }
  const text = readFileSync(join(root, "wrangler.toml"), "utf8")
    .replace(/^main = ".*"$/m, `main = ${JSON.stringify(path("src/adapters/workers.ts"))}`)
    .replace(/^command = ".*"$/m, `command = ${JSON.stringify(command)}`)
    .replace(/^required = \[.*\]$/m, `required = [${JSON.stringify(SECRET_NAME)}]`);
  const alias = '\n# The policy of this folder in place of the release\'s own.\n[alias]\n"#policy" = "./policy.json"\n';
  return { path: "wrangler.toml", text: `${text.trimEnd()}\n${alias}` };
}
