import { serveOnNode } from "../adapters/node.ts";
import { readSettings } from "../adapters/node-settings.ts";
import { jsonLines } from "../extender/log.ts";

/** Serves the function on Node until SIGTERM or SIGINT: `npm run serve`. */
async function main(): Promise<void> {
  const log = jsonLines((line) => process.stdout.write(`${line}\n`), Date.now);
  const listener = await serveOnNode(readSettings(process.env), log);
  log("info", "serving", { url: listener.url });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      log("info", "stopping", { signal });
      void listener.stop().then(() => process.exit(0));
    });
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
