import { exports } from "cloudflare:workers";
import { vi } from "vitest";
import type { WorkerEnv } from "../../src/adapters/workers-settings.ts";
import { contractSuite } from "../contract/contract.ts";
import { type Call, requestInit, type Settings, type Target } from "../contract/target.ts";
import { tlsClientAuth } from "../contract/tls-client-auth.ts";

const lines: string[] = [];
vi.spyOn(console, "log").mockImplementation((line) => lines.push(String(line)));

/** The request as Cloudflare's network hands it on: the host name is all that tells where it comes from. */
function requestOf(path: string, call: Call = {}): Request {
  const base = call.from === "elsewhere" ? "https://berth.example" : "http://localhost";
  const cf = call.certificate && { cf: { tlsClientAuth: tlsClientAuth(call.certificate) } };
  return new Request(base + path, { ...requestInit(call), ...cf });
}

/** First the project's own Worker, with the suite's secrets as its bindings; then more instances of its module. */
async function start(settings: Settings): Promise<Target> {
  const from = lines.length;
  const fetch = from === 0 ? (request: Request) => exports.default.fetch(request) : await anotherWorker(settings);
  return {
    base: "http://localhost",
    fetch: async (path, call) => fetch(requestOf(path, call)),
    logs: () => lines.slice(from).join("\n"),
    stop: async () => undefined,
  };
}

async function anotherWorker({ secrets, open }: Settings): Promise<(request: Request) => Promise<Response>> {
  vi.resetModules();
  const { default: worker } = await import("../../src/adapters/workers.ts");
  const env: WorkerEnv = { ...secrets, ...(open && { BERTH_OPEN: open }) };
  return (request) => worker.fetch(request, env);
}

contractSuite("in workerd", start, { connections: false, distance: true });
