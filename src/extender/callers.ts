import type { CallerConfiguration } from "../policy/configuration.ts";
import type { Log } from "./log.ts";

/** Who is at the other end of the connection, as far as the runtime has verified it. */
export interface Peer {
  /** True when the connection came from this machine itself. */
  readonly loopback: boolean;
  /** A client certificate whose chain was verified; names are its common name and DNS names, `sha256` is hex. */
  readonly certificate?: { readonly names: readonly string[]; readonly sha256: string };
}

/** A caller that has proved who it is. */
export interface Caller {
  readonly name: string;
  /** The profiles it may ask; undefined means all of them. */
  readonly profiles?: readonly string[];
}

/** What a request presents. `path` is the first path segment when the URL has room for a secret. */
export interface Presented {
  readonly path?: string;
  readonly authorization?: string;
  readonly peer: Peer;
}

/** Tells who presents a credential, or undefined. Takes the same time for every wrong secret. */
export type Identify = (presented: Presented) => Promise<Caller | undefined>;

/** Secrets shorter than this can be guessed and are not accepted. */
const MINIMUM_SECRET_LENGTH = 16;

/** Where the callers' secrets come from and what else decides who is let in. */
export interface CallerOptions {
  /** A secret by its name in berth.yaml. */
  readonly secret: (name: string) => string | undefined;
  /** True lets anybody in who calls from this machine itself: for development only. */
  readonly openOnLoopback: boolean;
  readonly log: Log;
}

/**
 * Prepares the callers of a configuration. Credentials that cannot be used (a secret that is missing or too short)
 * are logged by name and never match; with none left everything is refused, and the log says why.
 */
export async function prepareCallers(
  callers: readonly CallerConfiguration[],
  options: CallerOptions,
): Promise<Identify> {
  const keys: Key[] = [];
  for (const caller of callers) keys.push(...(await keysOf(caller, options)));
  if (keys.length === 0 && !options.openOnLoopback) {
    options.log("error", "no caller has a usable credential: every request is refused; add callers to berth.yaml");
  }
  if (options.openOnLoopback) {
    options.log("warn", "open on loopback: whoever calls from this machine is let in without a credential");
  }
  return async (presented) => {
    const digests = await presentedDigests(presented);
    const found = keys.filter((key) => matches(key, digests, presented.peer));
    if (found[0]) return found[0].caller;
    const open = options.openOnLoopback && presented.peer.loopback && presented.path === undefined;
    return open ? { name: "loopback" } : undefined;
  };
}

type Kind = "path" | "basic" | "bearer";

type Key =
  | { readonly caller: Caller; readonly kind: Kind; readonly digest: Uint8Array }
  | { readonly caller: Caller; readonly kind: "certificate"; readonly name: string };

async function keysOf(configured: CallerConfiguration, options: CallerOptions): Promise<Key[]> {
  const caller = { name: configured.name, profiles: configured.profiles };
  const keys: Key[] = [];
  for (const credential of configured.credentials) {
    if ("certificate" in credential) {
      keys.push({ caller, kind: "certificate", name: credential.certificate });
      continue;
    }
    const [kind, name] = Object.entries(credential)[0] as [Kind, string];
    const problem = secretProblem(kind, options.secret(name));
    if (problem) options.log("error", `secret ${name} ${problem}`, { caller: caller.name, credential: kind });
    else keys.push({ caller, kind, digest: await digest(options.secret(name) ?? "") });
  }
  return keys;
}

function secretProblem(kind: Kind, secret: string | undefined): string | undefined {
  if (secret === undefined || secret === "") return "is not set: this credential is not accepted";
  return unfitProblem(kind, secret) ?? guessableProblem(kind, secret);
}

/** Secrets that no client could send, or not unchanged. */
function unfitProblem(kind: Kind, secret: string): string | undefined {
  if (secret !== secret.trim()) return "begins or ends with white space, a line's end perhaps: set it without";
  switch (kind) {
    case "basic":
      return secret.includes(":") ? undefined : "is not of the form user:password";
    case "bearer":
      return /^[!-~]+$/.test(secret)
        ? undefined
        : "has characters that no header carries: use letters, digits and signs of ASCII, without spaces";
    case "path":
      return /^[-A-Za-z0-9._~]+$/.test(secret)
        ? undefined
        : "has characters that a URL path would change: use letters, digits, - . _ ~";
  }
}

/** Of Basic the password counts: the user's name is no secret. */
function guessableProblem(kind: Kind, secret: string): string | undefined {
  const [what, guessed] =
    kind === "basic"
      ? ["has a password of less than", secret.slice(secret.indexOf(":") + 1)]
      : ["is shorter than", secret];
  return guessed.length < MINIMUM_SECRET_LENGTH
    ? `${what} ${MINIMUM_SECRET_LENGTH} characters: this credential is not accepted`
    : undefined;
}

type Digests = { readonly [K in Kind]?: Uint8Array };

async function presentedDigests({ path, authorization }: Presented): Promise<Digests> {
  const [, scheme, value] = /^(basic|bearer) +(\S+) *$/i.exec(authorization ?? "") ?? [];
  const kind = scheme?.toLowerCase();
  const basic = kind === "basic" ? decodeBase64(value ?? "") : undefined;
  return {
    ...(path !== undefined && { path: await digest(path) }),
    ...(basic !== undefined && { basic: await digest(basic) }),
    ...(kind === "bearer" && { bearer: await digest(value ?? "") }),
  };
}

/** A path that has room for a secret is judged by its secret alone: a wrong one is never healed by another proof. */
function matches(key: Key, presented: Digests, peer: Peer): boolean {
  if (presented.path && key.kind !== "path") return false;
  if (key.kind === "certificate") {
    const certificate = peer.certificate;
    if (!certificate) return false;
    return key.name.startsWith("sha256:")
      ? key.name === `sha256:${certificate.sha256.toLowerCase()}`
      : certificate.names.includes(key.name);
  }
  const given = presented[key.kind];
  return given !== undefined && equal(key.digest, given);
}

/** Digests have one length and tell nothing about the secret, so comparing them leaks neither. */
async function digest(secret: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret)));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}

function decodeBase64(text: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
