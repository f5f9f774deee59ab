import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { createTestHarness } from "wrangler";
import { COMPILED } from "./compile.ts";
import { contractSuite } from "./contract.ts";
import { http1Client } from "./http1.ts";
import { type Call, requestInit, type Settings, type Target } from "./target.ts";
import { tlsClientAuth } from "./tls-client-auth.ts";
import { dryRun } from "./wrangler.ts";

// The Worker as it ships, but for the policy.
const configPath = fileURLToPath(new URL("../../wrangler.toml", import.meta.url));
const built = await mkdtemp(join(tmpdir(), "berth-built-"));
afterAll(() => rm(built, { recursive: true }));
const { code, output } = await dryRun(built, ["--alias", `#policy:${COMPILED}`]);
if (code !== 0) throw new Error(`the Worker was not built:\n${output}`);

/** Where a call comes from: the host name is all that a Worker sees of it. */
function urlOf(base: string, path: string, { from }: Call): string {
  return from === "elsewhere" ? `https://berth.example${path}` : base + path;
}

async function start({ secrets, open }: Settings): Promise<Target> {
  const worker = { configPath, prebuiltWorkerDir: built, secrets, vars: open ? { BERTH_OPEN: open } : {} };
  const harness = createTestHarness({ workers: [worker] });
  const { url } = await harness.listen();
  const base = url.origin;
  const fetch = async (path: string, call: Call = {}) => {
    const cf = call.certificate && { cf: { tlsClientAuth: tlsClientAuth(call.certificate) } };
    return (await harness.fetch(urlOf(base, path, call), { ...requestInit(call), ...cf } as never)) as Response;
  };
  return {
    base,
    fetch,
    logs: () =>
      harness
        .getLogs()
        .map(({ message }) => message)
        .join("\n"),
    connect: () => http1Client(base).connect(),
    stop: () => harness.close(),
  };
}

contractSuite("as a minified bundle in workerd", start, { connections: true, distance: true });
