import compiled from "#policy";
import { createFunction } from "../extender/function.ts";
import { jsonLines } from "../extender/log.ts";
import { loadCompiled } from "../policy/compiled.ts";
import { registry } from "../policy/registry.ts";
import { cloudflareChunks as chunks } from "./cloudflare-body.ts";
import { cloudflarePeer as peer } from "./cloudflare-peer.ts";
import { readSettings, type WorkerEnv } from "./workers-settings.ts";

let app: ReturnType<typeof createFunction> | undefined;

async function start(env: WorkerEnv): ReturnType<typeof createFunction> {
  // biome-ignore lint/suspicious/noConsole: the console is a Worker's log
  const log = jsonLines((line) => console.log(line), Date.now);
  return createFunction(await loadCompiled(compiled, registry), {
    ...readSettings(env),
    peer,
    chunks,
    log,
    now: Date.now,
  });
}

/** The function on Cloudflare Workers: started by an isolate's first request, the same for all that follow. */
export default {
  async fetch(request: Request, env: WorkerEnv): Promise<Response> {
    app ??= start(env);
    return (await app).fetch(request, env);
  },
};
