import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { DevError } from "./dev-error.ts";
import { type FunctionClient, functionClient } from "./function-client.ts";
import type { LocalAuthority } from "./local-authority.ts";
import { startWrangler } from "./wrangler.ts";

/** What the function is served with on this machine. */
export interface DevServerOptions {
  readonly port: number;
  readonly authority: LocalAuthority;
  readonly onLine: (line: string) => void;
  /** Aborted when the user wants it to end. */
  readonly asked: AbortSignal;
}

/** The function in wrangler's dev server. */
export interface DevServer {
  readonly client: FunctionClient;
  /** Aborted when the user wants it to end, and, with the reason for people, when it has ended by itself. */
  readonly over: AbortSignal;
  /** Resolves when nothing of it is left. */
  stop(): Promise<void>;
}

const START_MS = 120_000;
const LOOK_MS = 100;

/**
 * Starts the function in wrangler's dev server.
 *
 * @throws {DevError} when wrangler is not installed
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { port, authority, onLine, asked } = options;
  const ca = await readFile(authority.caFile, "utf8");
  const { certFile, keyFile } = authority;
  const wrangler = startWrangler({ port, certFile, keyFile, onLine });
  const died = new AbortController();
  void wrangler.ended.then((why) => died.abort(why));
  const over = AbortSignal.any([asked, died.signal]);
  return { client: functionClient(`https://127.0.0.1:${port}`, ca, over), over, stop: wrangler.stop };
}

/**
 * Waits until the function answers.
 *
 * @throws {DevError} when it does not within two minutes; an abort error when it is over before
 */
export async function untilAnswering({ client, over }: DevServer): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (!(await answers(client))) {
    over.throwIfAborted();
    if (Date.now() > deadline) {
      throw new DevError(
        `${client.url} did not answer within ${START_MS / 1000} s: --verbose shows what wrangler does`,
      );
    }
    await sleep(LOOK_MS, undefined, { signal: over });
  }
}

async function answers(client: FunctionClient): Promise<boolean> {
  try {
    return (await client.ask("/healthz")).status === 200;
  } catch {
    return false;
  }
}
