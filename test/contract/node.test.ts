import { readFileSync } from "node:fs";
import { connect } from "node:tls";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { type Listener, type ListenerEnv, listen } from "../../src/adapters/listener.ts";
import { serveOnNode } from "../../src/adapters/node.ts";
import { readSettings } from "../../src/adapters/node-settings.ts";
import { createFunction } from "../../src/extender/function.ts";
import { jsonLines, type Log } from "../../src/extender/log.ts";
import { loadPolicies } from "../../src/policy/profile.ts";
import { hasRealData, realDataFolder } from "../realdata.ts";
import { contractSuite } from "./contract.ts";
import { args, JSON_BODY } from "./fixtures.ts";
import { http1Client } from "./http1.ts";
import { http2Connection } from "./http2.ts";
import { handshake, tlsFiles } from "./node-tls.ts";
import { pluginSuite, testConfiguration, testPlugins } from "./plugins.ts";
import { AS_A, SECRETS } from "./secrets.ts";
import type { Settings, Target } from "./target.ts";

/** The function as `npm run serve` starts it: from an environment. */
function environment({ secrets, open }: Settings): Record<string, string> {
  return {
    ...secrets,
    BERTH_CONFIG: fileURLToPath(new URL("berth.yaml", import.meta.url)),
    BERTH_FACTS: fileURLToPath(new URL("facts.json", import.meta.url)),
    BERTH_LISTEN: "127.0.0.1:0",
    BERTH_TLS_CERT: tlsFiles.certFile,
    BERTH_TLS_KEY: tlsFiles.keyFile,
    BERTH_CLIENT_CA: tlsFiles.clientCaFile,
    ...(open && { BERTH_OPEN: open }),
  };
}

async function logged(serve: (log: Log) => Promise<Listener>) {
  const lines: string[] = [];
  const listener = await serve(jsonLines((line) => lines.push(line), Date.now));
  return { base: listener.url, logs: () => lines.join("\n"), stop: () => listener.stop() };
}

async function startHttp1(settings: Settings): Promise<Target> {
  const server = await logged((log) => serveOnNode(readSettings(environment(settings)), log));
  const client = http1Client(server.base);
  return {
    ...server,
    fetch: (path, call) => client.fetch(path, call, handshake(call)),
    connect: () => client.connect(handshake()),
  };
}

async function startHttp2(settings: Settings): Promise<Target> {
  const server = await logged((log) => serveOnNode(readSettings(environment(settings)), log));
  return {
    ...server,
    fetch: async (path, call) => {
      const connection = http2Connection(server.base, handshake(call));
      try {
        return await connection.fetch(path, call);
      } finally {
        connection.close();
      }
    },
    connect: () => http2Connection(server.base, handshake()),
  };
}

async function startWithTestPlugins(): Promise<Target> {
  const facts = { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" } as const;
  const policies = await loadPolicies(testConfiguration, facts, testPlugins);
  const peer = (_: Request, env: unknown) => (env as ListenerEnv).peer;
  const secret = (name: string) => SECRETS[name as keyof typeof SECRETS];
  const server = await logged(async (log) => {
    const app = await createFunction(policies, { secret, openOnLoopback: false, peer, log, now: Date.now });
    return listen({ app, host: "127.0.0.1", port: 0, tls: tlsFiles, log });
  });
  const client = http1Client(server.base);
  return { ...server, fetch: (path, call) => client.fetch(path, call, handshake(call)) };
}

contractSuite("on Node over HTTP/1.1 and TLS", startHttp1, { connections: true, distance: false });
contractSuite("on Node over HTTP/2", startHttp2, { connections: true, distance: false });
pluginSuite("on Node", startWithTestPlugins);

/** Sends bytes as they are and reads until the other side has ended the connection. */
function exchange(base: string, bytes: Buffer): Promise<string> {
  const socket = connect({ port: Number(new URL(base).port), host: "127.0.0.1", ...handshake() });
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  socket.write(bytes);
  return new Promise((resolve, reject) => {
    socket.once("end", () => resolve(Buffer.concat(received).toString()));
    socket.once("error", reject);
  });
}

describe("the function on Node, byte by byte", () => {
  it("says that a client left when its body breaks off, and calls it no error", async () => {
    const server = await startHttp1({ secrets: SECRETS });
    const head = `POST /default/filter HTTP/1.1\r\nHost: x\r\nAuthorization: ${AS_A.Authorization}\r\n`;
    const begun = `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"Pod":`;
    const socket = connect({ port: Number(new URL(server.base).port), host: "127.0.0.1", ...handshake() });
    socket.write(begun, () => socket.destroy());
    await vi.waitFor(() => expect(server.logs()).toContain("a client left before its request was read"));
    expect(server.logs()).not.toContain('"level":"error"');
    await server.stop();
  });

  it.runIf(hasRealData)("takes exactly the headers that a scheduler of another project was seen to send", async () => {
    const recorded = readFileSync(new URL("requests/r06-recorded-headers.http", realDataFolder), "utf8").trim();
    const length = Number(/^Content-Length: (\d+)$/m.exec(recorded)?.[1]);
    const head = recorded.replace("/filter", `/${SECRETS.CLUSTER_A_PATH}/default/filter`).split("\n").join("\r\n");
    const request = `${head}\r\n\r\n${args().padEnd(length)}`;
    // A second request with the one header that ends a connection shows that the first has left it in order.
    const last = `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const server = await startHttp1({ secrets: SECRETS });
    const answers = await exchange(server.base, Buffer.from(request + last));
    const [decision, health] = answers.split(/(?=HTTP\/1\.1 )/);
    expect(decision).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(decision).toContain('"FailedAndUnresolvableNodes":{"retiring":');
    expect(health).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    await server.stop();
  });

  it("closes the connection in so many words when a body without end is over every limit", async () => {
    const server = await startHttp1({ secrets: SECRETS });
    const connection = http1Client(server.base).connect(handshake());
    const megabyte = new Uint8Array(1024 * 1024);
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(megabyte) });
    const refused = await connection.fetch("/default/filter", { headers: { ...AS_A, ...JSON_BODY }, body });
    expect(refused.status).toBe(413);
    expect(refused.headers.get("connection")).toBe("close");
    connection.close();
    await server.stop();
  });
});
