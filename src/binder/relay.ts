import { readFile } from "node:fs/promises";
import type { Log } from "../policy/log.ts";
import { registry } from "../policy/registry.ts";
import { createFunctionClient, type FunctionClient } from "../remote/client.ts";
import { whyUnread } from "../remote/file-errors.ts";
import { type PolicySource, startPolicySource } from "../remote/source.ts";
import type { FunctionSettings } from "./function-settings.ts";
import { livePolicyFault } from "./live.ts";

/** A function that is asked, and the policies that it gives. */
export interface Relay {
  readonly client: FunctionClient;
  readonly source: PolicySource;
  readonly profiles: readonly string[];
  /** How long a pod waits for an answer, in milliseconds. */
  readonly deadline: number;
  stop(): Promise<void>;
}

/** Begins to follow a function's policies. Rejects with a sentence when the file of its authority cannot be read. */
export async function startRelay(settings: FunctionSettings, log: Log): Promise<Relay> {
  const { url, token, versionKey, profiles, every, deadline, keptIn } = settings;
  const caPem = settings.caFile === undefined ? undefined : await readAuthority(settings.caFile);
  const client = createFunctionClient({ url, token, versionKey, ...(caPem !== undefined && { caPem }) });
  const source = await startPolicySource({
    client,
    profiles,
    plugins: registry,
    unfit: livePolicyFault,
    every,
    log,
    ...(keptIn !== undefined && { keptIn }),
  });
  return {
    client,
    source,
    profiles,
    deadline,
    async stop() {
      await source.stop();
      await client.close();
    },
  };
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const wanted = "it has to be the authority of the function's certificate, in PEM";
    throw new Error(`BERTH_FUNCTION_CA names ${file}, which cannot be read: ${whyUnread(error)}; ${wanted}`);
  }
}
