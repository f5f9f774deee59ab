import { chmod, cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What the command reads beside its own code, by where it is in this checkout, and where in the bundle. */
const FILES: readonly (readonly [from: string, to: string])[] = [
  ["src/cli/sample-request.json", "sample-request.json"],
  ["infra", "infra"],
  ["berth.yaml", "berth.yaml"],
  ["facts.json", "facts.json"],
  ["LICENSE", "LICENSE"],
];

/** Packages written for CommonJS ask for `require`, which ECMAScript modules have not. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Writes the release bundle: `berth.mjs`, which runs on Node without npm and without packages, and what it reads.
 * `berth dev` is not in it: it needs wrangler.
 *
 * @param folder made anew
 */
export async function buildRelease(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/berth.js"],
    outfile: join(folder, "berth.mjs"),
    bundle: true,
    platform: "node",
    target: "node22.19",
    format: "esm",
    banner: { js: REQUIRE },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "linked",
    logLevel: "warning",
  });
  await chmod(join(folder, "berth.mjs"), 0o755);
  for (const [from, to] of FILES) await cp(join(root, from), join(folder, to), { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, process.argv[2] ?? "dist/release");
  await buildRelease(folder);
  process.stdout.write(`written: ${folder}\n`);
}
