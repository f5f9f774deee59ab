import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compilePolicy } from "../../src/cli/policy.ts";
import { dryRun } from "../contract/wrangler.ts";
import type { Certificate } from "../controlplane/authority.ts";
import { waitUntilHealthy } from "../controlplane/healthy.ts";
import { freePort } from "../controlplane/ports.ts";
import { startProcess } from "../controlplane/process.ts";

/** What runs, and in how much memory. */
export interface WorkerdOptions {
  /** For the bundle, its files and the log. */
  readonly folder: string;
  /** berth.yaml and facts.json as text. */
  readonly policy: { readonly config: string; readonly facts: string };
  /** Megabytes of its JavaScript heap, the same that V8 is given in production by the isolate's limit. */
  readonly heapMb: number;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
  /** Absent: plain HTTP. */
  readonly tls?: Certificate & { readonly caPem: string };
}

/** The built Worker in a workerd of its own; `url` is that of the profile `default`. */
export interface Workerd {
  readonly url: string;
  readonly pid: number;
  logs(): string;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, "..", "..");

/** Builds the Worker as a deploy would and starts it in workerd with a capped heap; `wrangler dev` cannot cap it. */
export async function startWorkerd({ folder, policy, tls, ...limits }: WorkerdOptions): Promise<Workerd> {
  const file = (name: string) => join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(file("berth.yaml"), policy.config);
  await writeFile(file("facts.json"), policy.facts);
  await compilePolicy({ config: file("berth.yaml"), facts: file("facts.json"), out: file("policy.json") });
  const built = await dryRun(folder, ["--alias", `#policy:${file("policy.json")}`]);
  if (built.code !== 0) throw new Error(`the Worker was not built:\n${built.output}`);
  const port = await freePort();
  const wasm = (await readdir(folder)).filter((name) => name.endsWith(".wasm"));
  if (tls) {
    await writeFile(file("worker.crt"), tls.certPem);
    await writeFile(file("worker.key"), tls.keyPem, { mode: 0o600 });
  }
  await writeFile(file("config.capnp"), configOf(port, { ...limits, wasm, secure: tls !== undefined }));
  const running = startProcess({
    name: "workerd",
    command: join(root, "node_modules/workerd/bin/workerd"),
    args: ["serve", file("config.capnp")],
    folder,
  });
  const url = `http${tls ? "s" : ""}://127.0.0.1:${port}`;
  await waitUntilHealthy(running, { url, caPem: tls?.caPem ?? "" });
  return { url: `${url}/default`, pid: running.pid, logs: running.logs, stop: () => running.stop() };
}

/** What differs from one workerd to the next. */
interface Running extends Pick<WorkerdOptions, "heapMb" | "bodyLimit"> {
  /** The modules of WebAssembly in the folder, as the bundle names them. */
  readonly wasm: readonly string[];
  readonly secure: boolean;
}

const TLS = '(keypair = (privateKey = embed "worker.key", certificateChain = embed "worker.crt"))';

function configOf(port: number, { heapMb, bodyLimit, wasm, secure }: Running): string {
  const protocol = secure ? `https = (options = (), tlsOptions = ${TLS})` : "http = ()";
  const modules = [
    '(name = "workers.js", esModule = embed "workers.js")',
    ...wasm.map((name) => `(name = "${name}", wasm = embed "${name}")`),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = ["--max-old-space-size=${heapMb}"],
  services = [(name = "main", worker = .function)],
  sockets = [(name = "web", address = "127.0.0.1:${port}", ${protocol}, service = "main")],
);
const function :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "BERTH_OPEN", text = "loopback"), (name = "BERTH_BODY_LIMIT", text = "${bodyLimit}")],
);
`;
}
