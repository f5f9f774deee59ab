import { readFile } from "node:fs/promises";
import { whyUnread } from "../remote/file-errors.ts";
import { CommandError } from "./command-error.ts";

/**
 * Reads a text file that somebody has named on the command line.
 * @param named what the message calls it: the option and the file, or the file alone
 * @throws {CommandError} that says why the file cannot be read
 */
export async function readText(file: string, named = file): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(`${named} cannot be read: ${whyUnread(error)}`);
  }
}
