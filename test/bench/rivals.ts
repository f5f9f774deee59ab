import { writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { type Authority, createAuthority } from "../controlplane/authority.ts";
import { startGoExtender } from "../controlplane/goextender.ts";
import { freePort } from "../controlplane/ports.ts";
import { startProcess, waitUntilUp } from "../controlplane/process.ts";
import { serveArguments } from "../e2e/function.ts";
import { berthYaml, factsJson, goPolicy } from "./scenario.ts";

/** An extender in a process of its own, over HTTPS. */
export interface Rival {
  readonly name: string;
  readonly pid: number;
  ask(verb: "filter" | "prioritize", body: Buffer): Promise<Buffer>;
  stop(): Promise<void>;
}

/** Starts a rival with an empty history of memory and CPU time. */
export type StartRival = (folder: string) => Promise<Rival>;

/** The function on the Node adapter. */
export const berth: StartRival = async (folder) => {
  const { authority, certFile, keyFile } = await certificates(folder);
  await writeFile(join(folder, "berth.yaml"), berthYaml);
  await writeFile(join(folder, "facts.json"), factsJson);
  const port = await freePort();
  const running = startProcess({
    name: "berth",
    command: process.execPath,
    args: await serveArguments(),
    folder,
    env: {
      BERTH_CONFIG: join(folder, "berth.yaml"),
      BERTH_FACTS: join(folder, "facts.json"),
      BERTH_LISTEN: `127.0.0.1:${port}`,
      BERTH_TLS_CERT: certFile,
      BERTH_TLS_KEY: keyFile,
      BERTH_OPEN: "loopback",
    },
  });
  const client = connect(`https://127.0.0.1:${port}/default`, authority.caPem);
  await waitUntilUp(running, async () => (await client.healthy()) === true);
  return { name: "Berth on Node", pid: running.pid, ask: client.ask, stop: () => running.stop() };
};

/** The Go extender, with Go's encoding/json or the one of GOEXPERIMENT=jsonv2. */
export function go(json: "v1" | "v2"): StartRival {
  return async (folder) => {
    const { authority, certificate } = await certificates(folder);
    const running = await startGoExtender({
      policy: goPolicy,
      json,
      folder,
      tls: { ...certificate, caPem: authority.caPem },
    });
    const client = connect(running.url, authority.caPem);
    const name = json === "v1" ? "Go, encoding/json" : "Go, GOEXPERIMENT=jsonv2";
    return { name, pid: running.pid, ask: client.ask, stop: () => running.stop() };
  };
}

async function certificates(folder: string) {
  const authority: Authority = await createAuthority("benchmark CA");
  const certificate = await authority.issue({ name: "extender" });
  const [certFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  await writeFile(certFile, certificate.certPem);
  await writeFile(keyFile, certificate.keyPem, { mode: 0o600 });
  return { authority, certificate, certFile, keyFile };
}

/** One kept HTTP/1.1 connection over verified TLS, the same for every rival. */
function connect(prefix: string, ca: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  const send = (method: string, url: string, body?: Buffer) =>
    new Promise<{ status: number; bytes: Buffer }>((resolve, reject) => {
      const headers = body ? { "Content-Type": "application/json", "Content-Length": body.length } : {};
      const question = request(url, { method, agent, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, bytes: Buffer.concat(chunks) }));
      });
      question.on("error", reject);
      question.end(body);
    });
  return {
    healthy: async () => (await send("GET", new URL("/healthz", prefix).href)).status === 200,
    ask: async (verb: string, body: Buffer) => {
      const { status, bytes } = await send("POST", `${prefix}/${verb}`, body);
      if (status !== 200) throw new Error(`${verb} answered ${status}: ${bytes.subarray(0, 200)}`);
      return bytes;
    },
  };
}
