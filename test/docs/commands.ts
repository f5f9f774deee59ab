import { readdir, readFile } from "node:fs/promises";

const ROOT = new URL("../../", import.meta.url);

/** One line of a shell block of the documentation. */
export interface DocumentedCommand {
  readonly page: string;
  readonly command: string;
  /** True for commands that the page marks as needing an account. */
  readonly needsAccount: boolean;
}

/** Every command in a fenced `sh` block of the README, CONTRIBUTING and docs. */
export async function documentedCommands(): Promise<DocumentedCommand[]> {
  const docs = (await readdir(new URL("docs/", ROOT))).filter((name) => name.endsWith(".md"));
  const pages = ["README.md", "CONTRIBUTING.md", "AGENTS.md", ...docs.map((name) => `docs/${name}`)];
  return (await Promise.all(pages.map(commandsOf))).flat();
}

async function commandsOf(page: string): Promise<DocumentedCommand[]> {
  const text = await readFile(new URL(page, ROOT), "utf8");
  const blocks = text.matchAll(/(<!-- needs an account -->\n)?```sh\n([\s\S]*?)```/g);
  return [...blocks].flatMap(([, marker, block = ""]) =>
    block
      .split("\n")
      .map((line) => line.replace(/\s+#.*$/, "").trim())
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((command) => ({ page, command, needsAccount: marker !== undefined })),
  );
}
