import { readFile } from "node:fs/promises";
import { CommandError } from "./command-error.ts";

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user has no right to read it",
};

/**
 * Reads a text file that somebody has named on the command line.
 * @param named what the message calls it: the option and the file, or the file alone
 * @throws {CommandError} that says why the file cannot be read
 */
export async function readText(file: string, named = file): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw new CommandError(`${named} cannot be read: ${WHY[code] ?? `the system answered ${code}`}`);
  }
}
