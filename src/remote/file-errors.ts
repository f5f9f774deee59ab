/**
 * Why a file could not be read, for people: the end of a sentence that names the file. Words instead of codes, where the
 * code is one that people meet.
 */
export function whyUnread(error: unknown): string {
  return said(error, UNREAD);
}

/** Why nothing could be written into a folder, and what to do: the end of a sentence that names the folder or a file in it. */
export function whyUnwritten(error: unknown): string {
  return said(error, UNWRITTEN);
}

const UNREAD: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "its path leads through a file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EMFILE: "this program has too many files open",
};

const UNWRITTEN: Readonly<Record<string, string>> = {
  EACCES: "this user may not read or write there; choose another folder or change its owner",
  EPERM: "this user may not read or write there; choose another folder or change its owner",
  EROFS: "the file system is read-only; choose another folder",
  ENOSPC: "the disk is full",
  EDQUOT: "this user has no more room on the disk",
  ENOTDIR: "it is or leads through a file; choose another folder or remove that file",
  EEXIST: "it is a file; choose another folder or remove that file",
  EISDIR: "a folder stands where a file belongs; remove it",
};

function said(error: unknown, words: Readonly<Record<string, string>>): string {
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== "string") return error instanceof Error ? error.message : String(error);
  return words[code] ?? `the system answered ${code}`;
}
