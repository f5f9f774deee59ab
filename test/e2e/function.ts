import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { waitUntilHealthy } from "../controlplane/healthy.ts";
import { freePort } from "../controlplane/ports.ts";
import { type ProcessSpec, type RunningProcess, startProcess } from "../controlplane/process.ts";

/** What the function decides by, as its two files and the secrets around them say. */
export interface FunctionPolicy {
  /** berth.yaml without apiVersion and kind. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** facts.json without apiVersion and kind. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** The callers' secrets by their names in berth.yaml. */
  readonly secrets: Readonly<Record<string, string>>;
  /** On Node: a file of plugins in place of Berth's own. */
  readonly plugins?: string;
}

/** One decision as the function logs it. */
export interface LoggedDecision {
  readonly message: "decision";
  readonly caller: string;
  /** `<profile>@<version>` */
  readonly policy: string;
  readonly verb: "filter" | "prioritize";
  /** `<namespace>/<name>` */
  readonly pod: string;
  readonly nodes: number;
}

/** The function in a process of its own, over HTTPS; it ends with its control plane. */
export interface RunningFunction {
  /** Such as `https://127.0.0.1:20123`, without a path. */
  readonly url: string;
  /** For `tlsConfig.caData`: the authority of its certificate. */
  readonly caData: string;
  logs(): string;
  /** Every decision so far, in order. */
  decisions(): LoggedDecision[];
  stop(): Promise<void>;
}

/** Where a function belongs: its certificate is of this authority, its files are below this folder. */
export type Home = Pick<ControlPlane, "authority" | "caPem" | "folder" | "onStop">;

const root = join(import.meta.dirname, "..", "..");
let started = 0;

/** Starts the real Worker, bundled by `wrangler dev` from a copy of this project, and waits until it answers. */
export async function startWorker(home: Home, policy: FunctionPolicy): Promise<RunningFunction> {
  const place = await prepare(home, "worker");
  await copyProject(place.folder);
  const secrets = Object.entries(policy.secrets).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`);
  await writeFile(join(place.folder, ".dev.vars"), secrets.join(""));
  await writePolicy(place.folder, policy);
  const inspector = await freePort();
  return run(home, place, {
    args: [
      join(root, "node_modules/wrangler/bin/wrangler.js"),
      "dev",
      "--ip=127.0.0.1",
      `--port=${place.port}`,
      `--inspector-port=${inspector}`,
      "--local-protocol=https",
      `--https-key-path=${place.keyFile}`,
      `--https-cert-path=${place.certFile}`,
      "--show-interactive-dev-session=false",
    ],
    env: {
      ...quiet,
      XDG_CONFIG_HOME: join(place.folder, "settings"),
      // Registries of other sessions on this machine must not meet this one.
      MINIFLARE_REGISTRY_PATH: join(place.folder, "registry"),
    },
  });
}

/**
 * Starts the function on Node, over HTTP/2, and waits until it answers.
 *
 * @param clientCaPem the authority of clients' certificates, if callers have any
 * @param port where another one has listened before; default: a free one
 */
export async function startOnNode(
  home: Home,
  policy: FunctionPolicy,
  clientCaPem?: string,
  port?: number,
): Promise<RunningFunction> {
  const place = await prepare(home, "function", port);
  const clientCa = join(place.folder, "clients.crt");
  if (clientCaPem !== undefined) await writeFile(clientCa, clientCaPem);
  await writePolicy(place.folder, policy);
  return run(home, place, {
    args: await serveArguments(),
    env: {
      ...policy.secrets,
      BERTH_LISTEN: `127.0.0.1:${place.port}`,
      BERTH_TLS_CERT: place.certFile,
      BERTH_TLS_KEY: place.keyFile,
      ...(clientCaPem !== undefined && { BERTH_CLIENT_CA: clientCa }),
      ...(policy.plugins !== undefined && { BERTH_PLUGINS: policy.plugins }),
    },
  });
}

/** What `npm run serve` gives to node: its settings for the garbage collector belong to the function as it is deployed. */
export async function serveArguments(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { scripts: { serve: string } };
  const [, ...words] = scripts.serve.split(" ");
  return words.map((word) => (word.startsWith("src/") ? join(root, word) : word));
}

interface Place {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Nothing that `wrangler dev` would ask the network, and no colours in its log. */
const quiet = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  NO_COLOR: "1",
  FORCE_COLOR: "0",
};

async function prepare(home: Home, kind: string, port?: number): Promise<Place> {
  started += 1;
  const name = `${kind}-${started}`;
  const folder = join(home.folder, name);
  await mkdir(folder);
  const { certPem, keyPem } = await home.authority.issue({ name });
  const [certFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  await writeFile(certFile, certPem);
  await writeFile(keyFile, keyPem, { mode: 0o600 });
  return { name, folder, port: port ?? (await freePort()), certFile, keyFile };
}

/** What wrangler.toml, the policy's build step and the bundle need. Links in place of `src` would lead out of it. */
async function copyProject(folder: string): Promise<void> {
  for (const file of ["package.json", "wrangler.toml"]) await cp(join(root, file), join(folder, file));
  const filter = (source: string): boolean => !source.endsWith(".test.ts");
  await cp(join(root, "src"), join(folder, "src"), { recursive: true, filter });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
}

/** Every JSON document is a YAML document. */
async function writePolicy(folder: string, { configuration, facts }: FunctionPolicy): Promise<void> {
  const write = (file: string, kind: string, document: object | undefined): Promise<void> =>
    writeFile(join(folder, file), JSON.stringify({ apiVersion: "berth.dev/v1alpha1", kind, ...document }, null, 2));
  await write("berth.yaml", "PolicyConfiguration", configuration);
  await write("facts.json", "FleetFacts", facts);
}

async function run(home: Home, place: Place, spec: Pick<ProcessSpec, "args" | "env">): Promise<RunningFunction> {
  const { name, folder, port } = place;
  const running = startProcess({ ...spec, name, folder, command: process.execPath, cwd: folder });
  home.onStop(() => running.stop());
  const url = `https://127.0.0.1:${port}`;
  await waitUntilHealthy(running, { url, caPem: home.caPem });
  return {
    url,
    caData: Buffer.from(home.caPem).toString("base64"),
    logs: running.logs,
    decisions: () => decisionsOf(running),
    stop: () => running.stop(),
  };
}

function decisionsOf(running: RunningProcess): LoggedDecision[] {
  const lines = running.logs().split("\n");
  return lines.filter((line) => line.includes('"message":"decision"')).map((line) => JSON.parse(line));
}
