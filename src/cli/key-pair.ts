import { createPrivateKey, randomUUID, X509Certificate } from "node:crypto";
import { chmod, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { Issued } from "./certificates.ts";

/** Where a certificate and its private key are kept. */
export interface PairFiles {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate and its private key as they were read from their files, found to fit each other. */
export interface Pair extends Issued {
  readonly parsed: X509Certificate;
}

/** Files that are no certificate and key; the message names the file and what is wrong with it. */
export class PairError extends Error {
  override readonly name = "PairError";
}

/**
 * Reads a certificate and its key. A key that others could read becomes mode 0600.
 *
 * @returns undefined when neither file is there
 * @throws PairError when one is missing, unreadable as PEM, or does not belong to the other
 */
export async function readPair(files: PairFiles): Promise<Pair | undefined> {
  const certificate = await readIfThere(files.certificate);
  const key = await readIfThere(files.key);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined) throw new PairError(`${files.certificate} is missing although ${files.key} is there`);
  if (key === undefined) throw new PairError(`${files.key} is missing although ${files.certificate} is there`);
  const parsed = parse(files.certificate, "certificate", () => new X509Certificate(certificate));
  const privateKey = parse(files.key, "private key", () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(privateKey)) {
    throw new PairError(`${files.key} is not the key of the certificate in ${files.certificate}`);
  }
  await closeToOthers(files.key);
  return { certificate, key, parsed };
}

/** Writes a certificate and its key (mode 0600): each file is complete at every moment, the key is there first. */
export async function writePair(files: PairFiles, pair: Issued): Promise<Pair> {
  await replaceFile(files.key, pair.key, 0o600);
  await replaceFile(files.certificate, pair.certificate, 0o644);
  return { ...pair, parsed: new X509Certificate(pair.certificate) };
}

/** Replaces a file in one step, so that nobody ever reads half of it. */
export async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { mode, flag: "wx", flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function parse<T>(path: string, what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new PairError(`${path} is damaged: it holds no ${what} in PEM`);
  }
}

async function closeToOthers(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, 0o600);
}
