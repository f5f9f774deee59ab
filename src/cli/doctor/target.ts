import { getCACertificates } from "node:tls";
import { field, isObject, type JsonObject } from "../../protocol/json.ts";
import { CommandError } from "../command-error.ts";
import type { Address } from "../kube-scheduler/address.ts";
import { parseDuration } from "../kube-scheduler/duration.ts";
import { DEFAULT_TIMEOUT_MS, extendersOf, type Verb } from "../kube-scheduler/extender.ts";
import { readContents } from "../kube-scheduler/read.ts";
import { readText } from "../read-text.ts";

/** Who checks the server's certificate: an authority of the configuration, the machine's own, or nobody. */
export type Verification = "authority" | "system" | "nobody";

/** An extender as kube-scheduler would call it. */
export interface Target {
  readonly address: Address;
  /** The urlPrefix without slashes at its end and without user and password; never shown. */
  readonly prefix: string;
  /** `Basic …`, from user and password in the URL. */
  readonly authorization?: string;
  readonly verification: Verification;
  /** PEM: what is trusted. */
  readonly trusted: string | readonly string[];
  /** The name that the certificate is compared with, where it is not the URL's host. */
  readonly serverName?: string;
  readonly client?: { readonly cert: string; readonly key: string };
  /** The paths of the verbs that are configured. */
  readonly verbs: Readonly<Partial<Record<Verb, string>>>;
  /** Names only, or whole nodes. */
  readonly names: boolean;
  readonly timeoutMs: number;
  readonly ignorable: boolean;
  readonly resources: readonly { readonly name: string; readonly ignored: boolean }[];
}

/** Where the settings of an extender come from: a scheduler's configuration, or options. */
export interface TargetOptions {
  readonly url?: string;
  readonly config?: string;
  /** Which of the configuration's extenders, from 1. */
  readonly extender: number;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly names: boolean;
  readonly timeout?: string;
}

/**
 * Reads what is to be called.
 *
 * @throws {CommandError} for a file that cannot be read or has no such extender, or an option that is not usable
 */
export async function readTarget(options: TargetOptions): Promise<Target> {
  if ((options.url === undefined) === (options.config === undefined)) {
    throw new CommandError("give either a URL, such as https://berth.example.com/default, or --config FILE");
  }
  return targetOf(options.config === undefined ? entryOf(options) : await entryFrom(options.config, options.extender));
}

/** Options as an entry of a configuration would say them. */
function entryOf({ url = "", ca, cert, key, names, timeout }: TargetOptions): JsonObject {
  if (timeout !== undefined && parseDuration(timeout) === undefined) {
    throw new CommandError(`--timeout ${timeout}: write it as 1s or 500ms`);
  }
  const tlsConfig = {
    ...(ca !== undefined && { caFile: ca }),
    ...(cert !== undefined && { certFile: cert }),
    ...(key !== undefined && { keyFile: key }),
  };
  return {
    urlPrefix: url,
    filterVerb: "filter",
    prioritizeVerb: "prioritize",
    nodeCacheCapable: names,
    enableHTTPS: ca !== undefined,
    ...(timeout !== undefined && { httpTimeout: timeout }),
    ...(Object.keys(tlsConfig).length > 0 && { tlsConfig }),
  };
}

async function entryFrom(file: string, number: number): Promise<JsonObject> {
  const { found } = readContents(await readText(file, `--config ${file}`));
  const entries = found.flatMap(({ value }) => extendersOf(value).map(({ entry }) => entry));
  const entry = entries[number - 1];
  if (entry !== undefined) return entry;
  const there = entries.length === 0 ? "no extender" : `${entries.length} extender${entries.length === 1 ? "" : "s"}`;
  throw new CommandError(`${file} has ${there}, so not number ${number}`);
}

/** k8s.io/kubernetes v1.37.2 pkg/scheduler/extender.go, makeTransport and NewHTTPExtender. */
async function targetOf(entry: JsonObject): Promise<Target> {
  const [extender] = extendersOf({ extenders: [entry] });
  if (!extender?.address) throw new CommandError("the URL is not one: write it as https://host/profile");
  const { address, names, timeoutMs, ignorable, resources } = extender;
  const tlsConfig = field(entry, "tlsConfig");
  const tls = isObject(tlsConfig) ? tlsConfig : {};
  const ca = await material(tls, "ca");
  const [cert, key] = [await material(tls, "cert"), await material(tls, "key")];
  const verification = verificationOf(entry, tls, ca);
  const { username, password } = address.url;
  const serverName = field(tls, "serverName");
  return {
    address,
    prefix: prefixOf(address.url),
    ...(username !== "" && { authorization: basic(username, password) }),
    verification,
    trusted: ca ?? getCACertificates("system"),
    ...(typeof serverName === "string" && { serverName }),
    ...(cert !== undefined && key !== undefined && { client: { cert, key } }),
    verbs: verbsOf(entry),
    names,
    timeoutMs: timeoutMs || DEFAULT_TIMEOUT_MS,
    ignorable,
    resources: resources.map(({ name, ignored }) => ({ name, ignored })),
  };
}

/** HTTPS that is enabled without an authority is checked by nobody; without being enabled, by the machine's own. */
function verificationOf(entry: JsonObject, tls: JsonObject, ca: string | undefined): Verification {
  if (field(tls, "insecure") === true) return "nobody";
  if (ca !== undefined) return "authority";
  return field(entry, "enableHTTPS") === true ? "nobody" : "system";
}

function prefixOf(url: URL): string {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare.href.replace(/\/+$/, "");
}

function basic(username: string, password: string): string {
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(text).toString("base64")}`;
}

function verbsOf(entry: JsonObject): Partial<Record<Verb, string>> {
  const verbs = (["filter", "prioritize", "preempt", "bind"] as const).map((verb) => [verb, entry[`${verb}Verb`]]);
  return Object.fromEntries(verbs.filter(([, path]) => typeof path === "string" && path !== ""));
}

/** `caData` wins over `caFile`, as in client-go. */
async function material(tls: JsonObject, of: "ca" | "cert" | "key"): Promise<string | undefined> {
  const data = field(tls, `${of}Data`);
  if (typeof data === "string" && data !== "") return Buffer.from(data, "base64").toString("utf8");
  const file = field(tls, `${of}File`);
  return typeof file === "string" && file !== "" ? readText(file, `${of}File ${file}`) : undefined;
}
