import compiled from "#policy";
import { createApp } from "../extender/app.ts";
import { prepareCallers } from "../extender/callers.ts";
import { localDeciders } from "../extender/local.ts";
import { jsonLines } from "../extender/log.ts";
import { loadCompiled } from "../policy/compiled.ts";
import { registry } from "../policy/registry.ts";
import { cloudflarePeer } from "./cloudflare-peer.ts";
import { readSettings, type WorkerEnv } from "./workers-settings.ts";

let app: Promise<ReturnType<typeof createApp>> | undefined;

async function start(env: WorkerEnv) {
  const { openOnLoopback, bodyLimit, secret } = readSettings(env);
  // biome-ignore lint/suspicious/noConsole: the console is a Worker's log
  const log = jsonLines((line) => console.log(line), Date.now);
  const policies = await loadCompiled(compiled, registry);
  const identify = await prepareCallers(policies.callers, { secret, openOnLoopback, log });
  return createApp({
    deciders: localDeciders(policies, Date.now),
    identify,
    peer: cloudflarePeer,
    log,
    now: Date.now,
    bodyLimit,
  });
}

/** The function on Cloudflare Workers: started by an isolate's first request, the same for all that follow. */
export default {
  async fetch(request: Request, env: WorkerEnv): Promise<Response> {
    app ??= start(env);
    return (await app).fetch(request, env);
  },
};
