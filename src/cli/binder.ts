import { once } from "node:events";
import { readSettings } from "../adapters/node-settings.ts";
import { policyFilesReader } from "../adapters/policy-files.ts";
import { startBinder } from "../binder/binder.ts";
import { GPUSHARE_PROFILE } from "../binder/gpushare.ts";
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
  const elsewhere = [GPUSHARE_PROFILE, ...(own.function?.profiles ?? [])];
  const files = process.env["BERTH_CONFIG"] ? policyFilesReader(settings, registry, elsewhere) : undefined;
  const running = await startBinder({ ...settings, ...own, ...(files && { files }), log });
  log("info", "serving", { url: running.url });
  if (!stop.aborted) await once(stop, "abort");
  log("info", "stopping", { signal: stop.reason });
  await running.stop();
}
