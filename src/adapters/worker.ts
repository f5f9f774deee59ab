import { createFunction } from "../extender/function.ts";
import { jsonLines } from "../extender/log.ts";
import { type CompiledPolicy, loadCompiled } from "../policy/compiled.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import { cloudflarePour as pour } from "./cloudflare-body.ts";
import { cloudflarePeer as peer } from "./cloudflare-peer.ts";
import { workerSkims as skims } from "./worker-skims.ts";
import { readSettings, type WorkerEnv } from "./workers-settings.ts";

/** What Cloudflare calls. */
export interface Worker {
  fetch(request: Request, env: WorkerEnv): Promise<Response>;
}

/**
 * The function on Cloudflare Workers, with any list of plugins: started by an isolate's first request, the same for all
 * that follow.
 */
export function createWorker(compiled: CompiledPolicy, plugins: readonly AnyPlugin[]): Worker {
  let app: ReturnType<typeof createFunction> | undefined;
  const start = async (env: WorkerEnv): ReturnType<typeof createFunction> => {
    // biome-ignore lint/suspicious/noConsole: the console is a Worker's log
    const log = jsonLines((line) => console.log(line), Date.now);
    const policies = await loadCompiled(compiled, plugins);
    return createFunction(policies, { ...readSettings(env), peer, pour, skims, log, now: Date.now });
  };
  return {
    async fetch(request, env) {
      app ??= start(env);
      return (await app).fetch(request, env);
    },
  };
}
