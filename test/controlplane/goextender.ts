import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Certificate } from "./authority.ts";
import { freePort } from "./ports.ts";
import { startProcess, waitUntilUp } from "./process.ts";
import { apiServerVersion, programPath, requirePrograms } from "./programs.ts";
import { openTransport, type Transport } from "./transport.ts";

/** What the Go extender decides by; `prices` as in facts.json, all matching by the same labels. */
export interface GoPolicy {
  readonly require: Readonly<Record<string, readonly string[]>>;
  readonly prices: readonly { readonly match: Readonly<Record<string, string>>; readonly perHour: number }[];
}

/** Where and how it runs. */
export interface GoExtenderOptions {
  readonly policy: GoPolicy;
  /** Which encoding/json: Go's own or the one of GOEXPERIMENT=jsonv2. Default `v1`. */
  readonly json?: "v1" | "v2";
  /** Of the cluster whose nodes it follows: it then takes names only, and the nodes from its informer. */
  readonly kubeconfig?: string;
  /** Whether it answers `bind` too, by client-go without a limit, and follows pods besides; needs a kubeconfig. */
  readonly binds?: boolean;
  /** For its files and log. */
  readonly folder: string;
  /** The server's certificate and the CA that signed it; without them plain HTTP. */
  readonly tls?: Certificate & { readonly caPem: string };
}

/** What a process has taken since its start. */
export interface ProcessUsage {
  readonly cpuSeconds: number;
  readonly maxRssBytes: number;
  /** Go's version. */
  readonly go: string;
}

/** A running Go extender; `url` is a urlPrefix with the verbs `filter` and `prioritize`, and `bind` where it binds. */
export interface GoExtender {
  readonly url: string;
  readonly pid: number;
  usage(): Promise<ProcessUsage>;
  logs(): string;
  stop(): Promise<void>;
}

/** Builds the Go extender if it must and starts it. Throws when Go is missing. */
export async function startGoExtender(options: GoExtenderOptions): Promise<GoExtender> {
  const name = options.json === "v2" ? "goextender-jsonv2" : "goextender";
  const program = { name, version: apiServerVersion } as const;
  await requirePrograms([program]);
  const file = (suffix: string): string => join(options.folder, `${name}.${suffix}`);
  await writeFile(file("policy.json"), JSON.stringify(options.policy));
  const port = await freePort();
  const args = [`-listen=127.0.0.1:${port}`, `-policy=${file("policy.json")}`];
  if (options.kubeconfig !== undefined) args.push(`-kubeconfig=${options.kubeconfig}`);
  if (options.binds) args.push("-bind");
  if (options.tls !== undefined) {
    await writeFile(file("crt"), options.tls.certPem);
    await writeFile(file("key"), options.tls.keyPem, { mode: 0o600 });
    args.push(`-cert=${file("crt")}`, `-key=${file("key")}`);
  }
  const process = startProcess({ name, command: programPath(program), args, folder: options.folder });
  const url = `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  const get = reader(url, options.tls?.caPem);
  await waitUntilUp(process, async () => (await get("/healthz")) === "ok");
  return {
    url,
    pid: process.pid,
    usage: () => get<ProcessUsage>("/usage"),
    logs: process.logs,
    stop: () => process.stop(),
  };
}

function reader(url: string, caPem: string | undefined): <T>(path: string) => Promise<T> {
  if (caPem === undefined) return async <T>(path: string) => (await (await fetch(new URL(path, url))).json()) as T;
  const transport: Transport = openTransport({ url, caPem });
  return async (path) => JSON.parse((await transport.send({ method: "GET", path })).text);
}
