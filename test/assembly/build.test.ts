import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { CODE, codeText, compileSkim, WASM } from "./build.ts";

test("The modules that Workers and Node run are what src/protocol/assembly/skim.ts compiles to; `npm run assembly` writes them", async () => {
  const module = await compileSkim();
  expect(Buffer.compare(await readFile(WASM), module)).toBe(0);
  expect(await readFile(CODE, "utf8")).toBe(codeText(module));
  expect(module.length).toBeLessThan(1500);
}, 60_000);
