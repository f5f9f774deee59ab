import { createFunction } from "../extender/function.ts";
import type { Log } from "../extender/log.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import { type Listener, type ListenerEnv, listen } from "./listener.ts";
import type { NodeSettings } from "./node-settings.ts";
import { readPolicyFiles } from "./policy-files.ts";

const peer = (_: Request, env: unknown) => (env as ListenerEnv).peer;

/** Whoever stops reading leaves the connection to the listener, which decides what becomes of it. */
const chunks = (_: Request, env: unknown): AsyncIterable<Uint8Array> =>
  (env as ListenerEnv).incoming.iterator({ destroyOnReturn: false });

/** The function on Node. Rejects with a sentence for people when a file, a setting or the port is not usable. */
export async function serveOnNode(settings: NodeSettings, log: Log): Promise<Listener> {
  const { configuration, facts } = await readPolicyFiles(settings, registry);
  const policies = await loadPolicies(configuration, facts, registry);
  const app = await createFunction(policies, { ...settings, peer, chunks, log, now: Date.now, packs: true });
  return listen({ ...settings, app, log });
}
