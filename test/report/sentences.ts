import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "e2e");

/** Whether a sentence, or its beginning or end, stands in an end-to-end test: pages that name tests are held to it. */
export function isTestSentence(sentence: string): boolean {
  return sources().includes(plain(sentence));
}

let read: string | undefined;

function sources(): string {
  const files = readdirSync(folder).filter((file) => file.endsWith(".test.ts"));
  read ??= plain(files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n"));
  return read;
}

/** Letters and digits only, without versions and what stands for them: sources have quotes, line ends and `%s`. */
function plain(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll(/ ?\b(?:with|by) kube-scheduler %s/g, "")
    .replaceAll(/[^A-Za-z0-9]/g, "");
}
