import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { serverNames } from "./certificates.ts";
import { DEFAULT_NAMES, makeCertificates } from "./certs/folder.ts";
import { certsReport, certsText } from "./certs/report.ts";
import { DEFAULT_SECRETS, secretManifests } from "./certs/secrets.ts";
import { CommandError } from "./command-error.ts";
import { replaceFile } from "./key-pair.ts";
import { createScreen } from "./screen.ts";

/** What `berth certs` is asked for. */
export interface CertsOptions {
  readonly folder: string;
  readonly name?: readonly string[];
  readonly client: string;
  readonly days: number;
  readonly authorityDays: number;
  readonly renew: boolean;
  readonly newAuthority: boolean;
  readonly namespace: string;
  readonly secret: string;
  readonly output: "text" | "json";
}

/**
 * Makes or renews certificates in a folder, writes their Secrets beside them and tells what to do with both.
 *
 * @throws {CommandError} when the folder or the authority in it cannot be used, or a name is none
 */
export async function certs(options: CertsOptions): Promise<void> {
  const { folder, name, output, ...wish } = options;
  const names = name ?? (await presentNames(folder)) ?? DEFAULT_NAMES;
  const set = await makeCertificates(folder, { ...wish, names }).catch((error: unknown) => {
    throw error instanceof RangeError ? new CommandError(error.message) : error;
  });
  const file = join(folder, "secrets.yaml");
  const secretNames = { ...DEFAULT_SECRETS, namespace: options.namespace, server: options.secret };
  await replaceFile(file, secretManifests(set, secretNames), 0o600);
  const report = certsReport(set, file);
  const { paint, print } = createScreen(process.stdout, process.stderr);
  print(output === "json" ? JSON.stringify(report) : certsText(report, paint));
}

/** The names of the server certificate in a folder: whoever renews it without naming any means the same. */
async function presentNames(folder: string): Promise<string[] | undefined> {
  const file = await readFile(join(folder, "server.crt"), "utf8").catch(() => undefined);
  try {
    return file === undefined ? undefined : serverNames(file);
  } catch {
    return undefined;
  }
}
