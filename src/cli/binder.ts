import { once } from "node:events";
import { readSettings } from "../adapters/node-settings.ts";
import { readPolicyFiles } from "../adapters/policy-files.ts";
import { startBinder } from "../binder/binder.ts";
import { readBinderSettings } from "../binder/settings.ts";
import { jsonLines } from "../extender/log.ts";
import { registry } from "../policy/registry.ts";
import { stopSignal } from "./stop-signal.ts";

/**
 * Runs the binder until SIGTERM, SIGINT or SIGHUP, with a log of JSON lines on stdout. Without BERTH_CONFIG it has only
 * the built-in profile that stands in for gpushare's scheduler extender.
 *
 * @throws an error whose message is for people: a setting, a file, a credential or the port is not usable
 */
export async function binder(): Promise<void> {
  const stop = stopSignal();
  const log = jsonLines((line) => void process.stdout.write(`${line}\n`), Date.now);
  const settings = readSettings(process.env);
  const own = readBinderSettings(process.env);
  const documents = process.env["BERTH_CONFIG"] ? await readPolicyFiles(settings, registry) : undefined;
  const running = await startBinder({ ...settings, ...own, ...(documents && { documents }), log });
  log("info", "serving", { url: running.url });
  if (!stop.aborted) await once(stop, "abort");
  log("info", "stopping", { signal: stop.reason });
  await running.stop();
}
