import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main as asc } from "assemblyscript/asc";

const at = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** What `npm run assembly` writes, both forms of one module: for Workers, which compile nothing while they run, and for Node. */
export const WASM = at("protocol/assembly/skim.wasm");
export const CODE = at("adapters/skim-code.ts");

/** A window of 256 KiB and the bytes behind it, in pages of 64 KiB. */
const PAGES = "5";

/** Compiles src/protocol/assembly/skim.ts. Rejects with the compiler's words when there is a fault in it. */
export async function compileSkim(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "berth-assembly-"));
  try {
    const options = ["--runtime", "stub", "-O3", "--noAssert", "--enable", "simd", "--initialMemory", PAGES];
    const out = join(folder, "skim.wasm");
    // Names in the module would be those of folders.
    const { error, stderr } = await asc(["skim.ts", "--baseDir", at("protocol/assembly"), "-o", out, ...options]);
    if (error) throw new Error(`src/protocol/assembly/skim.ts was not compiled:\n${stderr}`);
    return new Uint8Array(await readFile(out));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The module as the source text that Node reads. */
export function codeText(module: Uint8Array): string {
  return `/** src/protocol/assembly/skim.ts as a WebAssembly module, in base64. Written by \`npm run assembly\`. */
export const SKIM_CODE =
  "${Buffer.from(module).toString("base64")}";
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const module = await compileSkim();
  await writeFile(WASM, module);
  await writeFile(CODE, codeText(module));
  process.stdout.write(`written: ${WASM} and ${CODE} (${module.length} bytes)\n`);
}
