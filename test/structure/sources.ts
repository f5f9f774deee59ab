import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** A file of `src/`, by its path there. */
export interface Source {
  readonly path: string;
  /** Without comments. */
  readonly code: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

/** What a file imports: another file of `src/`, or a package. */
export type Import = { readonly file: string } | { readonly package: string };

/** Every file of code under `src/`. */
export function readSources(): Source[] {
  const folder = new URL("../../src/", import.meta.url);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[jt]s$/.test(path))
    .map((path) => sourceOf(path, readFileSync(new URL(path, folder), "utf8")));
}

/** A file as the tests look at it. */
export function sourceOf(path: string, text: string): Source {
  const code = withoutComments(text);
  const imports = [...code.matchAll(SPECIFIERS)].map((match) => importOf(path, match.groups?.["specifier"] ?? ""));
  return { path, code, lines: text.trimEnd().split("\n").length, imports };
}

/** True for files that tests are made of. */
export function isTest({ path }: Source): boolean {
  return /(\.test|-fixture)\.ts$/.test(path);
}

/** The room of a file: its first folder. */
export function roomOf(path: string): string {
  return path.split("/", 1)[0] ?? "";
}

const SPECIFIERS =
  /(?:^\s*(?:import|export)\b[^;"'`]*?\bfrom\s*|^\s*import\s*|\bimport\s*\(\s*)["'](?<specifier>[^"']+)["']/gm;

function importOf(path: string, specifier: string): Import {
  if (specifier.startsWith(".")) return { file: posix.normalize(posix.join(posix.dirname(path), specifier)) };
  if (specifier.startsWith("node:")) return { package: "node:" };
  return { package: /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier };
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}
