import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
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
 * Writes the release bundle: `berth.mjs`, which runs on Node without npm and without packages, with its parts and what it
 * reads beside it, and the licences of the packages in it.
 * `berth dev` is not in it: it needs wrangler.
 *
 * @param folder made anew
 */
export async function buildRelease(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/berth.js"],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // A command loads what it needs itself, and nothing of the others.
    splitting: true,
    chunkNames: "berth-[name]-[hash]",
    platform: "node",
    target: "node22.19",
    format: "esm",
    banner: { js: REQUIRE },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  await chmod(join(folder, "berth.mjs"), 0o755);
  await writeFile(join(folder, "LICENSES.txt"), await licencesOf(Object.keys(metafile.inputs)));
  for (const [from, to] of FILES) await cp(join(root, from), join(folder, to), { recursive: true });
}

/** The licence texts of the packages that files are from, each under the package's name. */
async function licencesOf(files: readonly string[]): Promise<string> {
  const found = files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const texts = [...new Set(found)].sort().map(async (path) => {
    const names = (await readdir(join(root, path))).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
    const parts = await Promise.all(names.map((name) => readFile(join(root, path, name), "utf8")));
    const { name, version, license } = JSON.parse(await readFile(join(root, path, "package.json"), "utf8"));
    return [`${name} ${version} (${license})`, ...parts.map((part) => part.trim())].join("\n\n");
  });
  return `${(await Promise.all(texts)).join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, process.argv[2] ?? "dist/release");
  await buildRelease(folder);
  process.stdout.write(`written: ${folder}\n`);
}
