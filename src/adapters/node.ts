import { createFunction } from "../extender/function.ts";
import type { Log } from "../extender/log.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import { type Listener, type ListenerEnv, listen, listenerPour as pour } from "./listener.ts";
import type { NodeSettings } from "./node-settings.ts";
import { nodeSkims } from "./node-skims.ts";
import { readPolicyFiles } from "./policy-files.ts";

const peer = (_: Request, env: unknown) => (env as ListenerEnv).peer;

/** The function on Node. Rejects with a sentence for people when a file, a setting or the port is not usable. */
export async function serveOnNode(
  { plugins = registry, ...settings }: NodeSettings & { readonly plugins?: readonly AnyPlugin[] },
  log: Log,
): Promise<Listener> {
  const { configuration, facts } = await readPolicyFiles(settings, plugins);
  const policies = await loadPolicies(configuration, facts, plugins);
  const app = await createFunction(policies, {
    ...settings,
    peer,
    pour,
    skims: nodeSkims(),
    log,
    now: Date.now,
    packs: true,
  });
  return listen({ ...settings, app, log });
}
