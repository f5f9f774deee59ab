import { readFile, writeFile } from "node:fs/promises";

const PAGE = new URL("../../docs/performance.md", import.meta.url);

/** Replaces what stands between a pair of markers of the page: the words around the figures are written by people. */
export async function writeFigures(marker: string, figures: string): Promise<void> {
  const page = await readFile(PAGE, "utf8");
  const [before, rest] = page.split(`<!-- ${marker} -->\n`);
  const after = rest?.split(`<!-- end of ${marker} -->`)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/performance.md has lost its markers: ${marker}`);
  await writeFile(PAGE, `${before}<!-- ${marker} -->\n${figures}\n<!-- end of ${marker} -->${after}`);
}
