import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Certificate } from "./authority.ts";
import { waitUntilHealthy } from "./healthy.ts";
import { freePort } from "./ports.ts";
import { startProcess } from "./process.ts";
import { apiServerVersion, programPath, requirePrograms } from "./programs.ts";

/** The extender that parses nothing, running; `url` is a urlPrefix with the verbs `filter` and `prioritize`. */
export interface Oracle {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Builds the oracle if it must and starts it: it answers with the request's own bytes and is the limit of what an
 * extender for whole nodes can reach.
 *
 * @param drop nodes with this text in their JSON do not pass its filter
 */
export async function startOracle(
  drop: string,
  { folder, tls }: { readonly folder: string; readonly tls: Certificate & { readonly caPem: string } },
): Promise<Oracle> {
  const program = { name: "oracle", version: apiServerVersion } as const;
  await requirePrograms([program]);
  const [cert, key] = [join(folder, "oracle.crt"), join(folder, "oracle.key")];
  await writeFile(cert, tls.certPem);
  await writeFile(key, tls.keyPem, { mode: 0o600 });
  const port = await freePort();
  const args = [`-listen=127.0.0.1:${port}`, `-cert=${cert}`, `-key=${key}`, `-drop=${drop}`];
  const process = startProcess({ name: "oracle", command: programPath(program), args, folder });
  const url = `https://127.0.0.1:${port}`;
  await waitUntilHealthy(process, { url, caPem: tls.caPem });
  return { url, pid: process.pid, stop: () => process.stop() };
}
