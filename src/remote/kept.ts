import { mkdir, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { whyUnread, whyUnwritten } from "./file-errors.ts";

/** A document that was kept. */
export interface Kept {
  readonly bytes: Uint8Array;
  /** When the function last gave it, in milliseconds since 1970. */
  readonly at: number;
}

/** The last good documents on disk, one file for each profile. */
export interface KeptDocuments {
  /** What was kept of a profile, or undefined when nothing was. Rejects with a sentence when it cannot be read. */
  read(profile: string): Promise<Kept | undefined>;
  /** Keeps a document whole or not at all. Rejects with a sentence when it cannot be kept. */
  keep(profile: string, bytes: Uint8Array): Promise<void>;
  /** Notes that the function gives what is kept to this day. Never rejects: nothing but an age depends on it. */
  confirm(profile: string): Promise<void>;
}

/**
 * Documents in a directory, which is made when it is missing.
 *
 * @param directory of this program alone; several processes may share it
 */
export function keptDocuments(directory: string): KeptDocuments {
  const fileOf = (profile: string): string => join(directory, `${profile}.json`);
  return {
    async read(profile) {
      const file = fileOf(profile);
      try {
        const [bytes, { mtimeMs }] = await Promise.all([readFile(file), stat(file)]);
        return { bytes, at: mtimeMs };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw new Error(`the policy kept in ${file} cannot be read: ${whyUnread(error)}; ${WANTED}`);
      }
    },
    async keep(profile, bytes) {
      const file = fileOf(profile);
      const draft = `${file}.${crypto.randomUUID()}`;
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await write(draft, bytes);
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined);
        throw new Error(`the policy cannot be kept in ${directory}: ${whyUnwritten(error)}; ${WANTED}`);
      }
    },
    async confirm(profile) {
      const now = new Date();
      await utimes(fileOf(profile), now, now).catch(() => undefined);
    },
  };
}

const WANTED = "BERTH_POLICY_CACHE has to name a folder that this program may read and write";

/** On the disk before it gets its name: a machine that fails leaves the old document or the new one. */
async function write(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
