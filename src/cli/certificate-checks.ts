import type { X509Certificate } from "node:crypto";
import { whyUnwritten } from "../remote/file-errors.ts";
import { serverNames } from "./certificates.ts";
import type { Pair } from "./key-pair.ts";

/** Whether a certificate is valid now and for so many milliseconds more. */
export function endsAfter({ validFromDate, validToDate }: X509Certificate, milliseconds: number, now: Date): boolean {
  return validFromDate <= now && validToDate.getTime() - now.getTime() > milliseconds;
}

/** Whether a certificate was signed by an authority. */
export function isIssuedBy({ parsed }: Pair, authority: Pair): boolean {
  return parsed.checkIssued(authority.parsed) && parsed.verify(authority.parsed.publicKey);
}

/** Whether a server certificate is for these names and no others. */
export function hasNames(pair: Pair, names: readonly string[]): boolean {
  const held = new Set(serverNames(pair.certificate));
  return held.size === names.length && names.every((name) => held.has(name));
}

/** What keeps certificates from being kept in a folder, in a sentence; undefined for errors of another kind. */
export function folderProblem(error: unknown, folder: string): string | undefined {
  if (systemCode(error) === undefined) return undefined;
  return `certificates cannot be kept in ${folder}: ${whyUnwritten(error)}`;
}

/** The code of an error of the file system, such as `EACCES`. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? code : undefined;
}
