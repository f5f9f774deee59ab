import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readText } from "./read-text.ts";

test("a folder in place of a file is called a folder, without a code of the system", async () => {
  await expect(readText(tmpdir(), "--from here")).rejects.toThrow("--from here cannot be read: it is a folder");
});

test("a file that is not there is named together with its option", async () => {
  const file = join(tmpdir(), "berth-no-such-file", "ca.crt");
  await expect(readText(file, `--ca ${file}`)).rejects.toThrow(`--ca ${file} cannot be read: there is no such file`);
});
