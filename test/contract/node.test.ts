import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { serveOnNode } from "../../src/adapters/node.ts";
import { readSettings } from "../../src/adapters/node-settings.ts";
import { createAuthority, issueClient, issueServer } from "../../src/cli/certificates.ts";
import { jsonLines } from "../../src/extender/log.ts";
import { contractSuite } from "./contract.ts";
import { http1Client } from "./http1.ts";
import { http2Connection } from "./http2.ts";
import type { Call, Certificate, Settings, Target } from "./target.ts";

const folder = await mkdtemp(join(tmpdir(), "berth-contract-"));
afterAll(() => rm(folder, { recursive: true }));

const [authority, clients, foreign] = await Promise.all(
  ["Contract servers", "Contract clients", "Nobody"].map((name) => createAuthority({ name, days: 2 })),
);
if (!authority || !clients || !foreign) throw new Error("no certificates");
const name = "scheduler.cluster-a.example";
const issued: Readonly<Record<Certificate, Awaited<ReturnType<typeof issueClient>>>> = {
  "cluster-a": await issueClient(clients, { name, days: 1 }),
  stranger: await issueClient(foreign, { name, days: 1 }),
};
const server = await issueServer(authority, { names: ["127.0.0.1", "localhost"], days: 1 });
const files = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key"), clients: join(folder, "clients.crt") };
await writeFile(files.cert, server.certificate);
await writeFile(files.key, server.key);
await writeFile(files.clients, clients.certificate);

/** The function as `npm run serve` starts it, from an environment. */
async function serve({ secrets, open }: Settings) {
  const lines: string[] = [];
  const settings = readSettings({
    ...secrets,
    BERTH_CONFIG: fileURLToPath(new URL("berth.yaml", import.meta.url)),
    BERTH_FACTS: fileURLToPath(new URL("facts.json", import.meta.url)),
    BERTH_LISTEN: "127.0.0.1:0",
    BERTH_TLS_CERT: files.cert,
    BERTH_TLS_KEY: files.key,
    BERTH_CLIENT_CA: files.clients,
    ...(open && { BERTH_OPEN: open }),
  });
  const log = jsonLines((line) => lines.push(line), Date.now);
  return { listener: await serveOnNode(settings, log), logs: () => lines.join("\n") };
}

/** The client's side of the handshake. */
function handshake({ certificate }: Call = {}) {
  const pair = certificate && issued[certificate];
  return { ca: authority?.certificate ?? "", ...(pair && { cert: pair.certificate, key: pair.key }) };
}

async function startHttp1(settings: Settings): Promise<Target> {
  const { listener, logs } = await serve(settings);
  const client = http1Client(listener.url);
  return {
    base: listener.url,
    fetch: (path, call) => client.fetch(path, call, handshake(call)),
    logs,
    connect: () => client.connect(handshake()),
    stop: () => listener.stop(),
  };
}

async function startHttp2(settings: Settings): Promise<Target> {
  const { listener, logs } = await serve(settings);
  return {
    base: listener.url,
    fetch: async (path, call) => {
      const connection = http2Connection(listener.url, handshake(call));
      try {
        return await connection.fetch(path, call);
      } finally {
        connection.close();
      }
    },
    logs,
    connect: () => http2Connection(listener.url, handshake()),
    stop: () => listener.stop(),
  };
}

contractSuite("on Node over HTTP/1.1 and TLS", startHttp1, { connections: true, distance: false });
contractSuite("on Node over HTTP/2", startHttp2, { connections: true, distance: false });
