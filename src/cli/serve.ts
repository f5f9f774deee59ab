import { once } from "node:events";
import { serveOnNode } from "../adapters/node.ts";
import { readSettings } from "../adapters/node-settings.ts";
import { jsonLines } from "../extender/log.ts";
import { loadPlugins } from "./plugins.ts";
import { stopSignal } from "./stop-signal.ts";

/**
 * Serves the function on Node until SIGTERM, SIGINT or SIGHUP, with a log of JSON lines on stdout.
 *
 * @throws an error whose message is for people: a setting, a file or the port is not usable
 */
export async function serve(): Promise<void> {
  const stop = stopSignal();
  const log = jsonLines((line) => void process.stdout.write(`${line}\n`), Date.now);
  const plugins = await loadPlugins(process.env["BERTH_PLUGINS"]);
  const listener = await serveOnNode({ ...readSettings(process.env), plugins }, log);
  log("info", "serving", { url: listener.url });
  if (!stop.aborted) await once(stop, "abort");
  log("info", "stopping", { signal: stop.reason });
  await listener.stop();
}
