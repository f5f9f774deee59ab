import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "./command-error.ts";
import { generateConfiguration } from "./config/generate.ts";
import type { ConfigurationWish, Platform, Wiring } from "./config/options.ts";
import { readAddress } from "./kube-scheduler/address.ts";
import { readText } from "./read-text.ts";
import { createScreen } from "./screen.ts";

/** Options of `berth config`, as commander gives them. */
export interface ConfigOptions {
  readonly wiring: Wiring;
  readonly kubernetesVersion: string;
  readonly platform: Platform;
  readonly profile?: string;
  readonly functionUrl?: string;
  readonly binderUrl?: string;
  readonly caFile?: string;
  /** A PEM file of this machine. */
  readonly caData?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly serverName?: string;
  readonly managedResource?: readonly string[];
  readonly virtualResource?: readonly string[];
  readonly weight: number;
  readonly timeout?: string;
  readonly ignorable?: boolean;
  readonly schedulerName: string;
  readonly lease: string;
  readonly kubeconfig?: string;
  readonly from?: string;
  readonly out?: string;
  readonly force?: boolean;
}

/**
 * Writes kube-scheduler's configuration to a file or to standard output, and says on standard error what else there is to do.
 *
 * @throws {CommandError | ConfigurationRefused} with one message for people; nothing is written then
 */
export async function config(options: ConfigOptions): Promise<void> {
  const { out, force } = options;
  if (out !== undefined && existsSync(out) && !force) {
    throw new CommandError(`${out} is there already and stays as it is: give another --out, or --force to replace it`);
  }
  const from = options.from === undefined ? undefined : await readText(options.from, `--from ${options.from}`);
  const { text, flags, notes } = generateConfiguration(await wishOf(options), from);
  const screen = createScreen(process.stdout, process.stderr);
  if (out === undefined) screen.print(text.trimEnd());
  else await write(out, text, hasSecret(options));
  for (const note of notes) screen.note(`changed: ${note}`);
  if (hasSecret(options)) screen.note(SECRET_NOTE);
  screen.note(`start kube-scheduler with: ${[`--config=${out ?? "FILE"}`, ...flags].join(" ")}`);
}

/** The profile that the binder has without any berth.yaml. */
const BUILT_IN = "gpushare-scheduler";

async function wishOf(options: ConfigOptions): Promise<ConfigurationWish> {
  const { caData, managedResource = [], virtualResource = [], from: _, out: __, force: ___, ...rest } = options;
  return {
    ...rest,
    profile: options.profile ?? (options.wiring === "binder-only" ? BUILT_IN : "default"),
    ...(caData !== undefined && { caData: await readAuthority(caData) }),
    managedResources: [
      ...managedResource.map((name) => ({ name, ignored: false })),
      ...virtualResource.map((name) => ({ name, ignored: true })),
    ],
  };
}

async function readAuthority(file: string): Promise<string> {
  const pem = await readText(file, `--ca-data ${file}`);
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) {
    throw new CommandError(`--ca-data ${file} holds no certificate: give the PEM file of the authority`);
  }
  if (pem.includes("PRIVATE KEY"))
    throw new CommandError(`--ca-data ${file} holds a private key, which must not leave it`);
  return Buffer.from(pem).toString("base64");
}

const SECRET_NOTE =
  "the URL holds a secret: kube-scheduler writes it into its log at -v=2, into /configz and into events; keep -v below 2, " +
  "or use a client certificate";

function hasSecret({ functionUrl, binderUrl }: ConfigOptions): boolean {
  return readAddress(functionUrl ?? binderUrl ?? "")?.secret !== undefined;
}

async function write(file: string, text: string, secret: boolean): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode: secret ? 0o600 : 0o644 });
}
