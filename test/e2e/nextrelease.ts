import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** The release that the copy calls itself. */
export const NEXT_RELEASE = "9.9.9";

/** The format of ledgers that it writes; it reads the one before too, as every release has to. */
export const NEXT_FORMAT = 2;

/**
 * A release that does not exist yet: this one under another number, with ledgers of a newer format. Gives the path of
 * its `berth` program, inside the folder.
 */
export async function makeNextRelease(folder: string): Promise<string> {
  const next = join(folder, "next-release");
  await mkdir(next, { recursive: true });
  await cp(join(root, "src"), join(next, "src"), { recursive: true });
  await cp(join(root, "package.json"), join(next, "package.json"));
  await symlink(join(root, "node_modules"), join(next, "node_modules"));
  await change(join(next, "src/protocol/release.ts"), /RELEASE = "[^"]+"/, `RELEASE = "${NEXT_RELEASE}"`);
  const ledger = join(next, "src/placement/ledger.ts");
  await change(ledger, /LEDGER_FORMAT = 1;/, `LEDGER_FORMAT = ${NEXT_FORMAT};`);
  await change(ledger, /if \(format !== LEDGER_FORMAT\)/, "if (format !== 1 && format !== LEDGER_FORMAT)");
  return join(next, "src/cli/berth.js");
}

async function change(path: string, from: RegExp, to: string): Promise<void> {
  const text = await readFile(path, "utf8");
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`${path} has no ${from} any more: the copy would be the same release`);
  await writeFile(path, changed);
}
