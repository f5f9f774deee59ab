import type { RequestOptions } from "node:https";
import { type DispatcherOptions, KubeConfig } from "@kubernetes/client-node";

/** Where the API server is and who asks: a kubeconfig file, or the service account of the pod this runs in. */
export type Source = KubeconfigFile | InCluster;

/** A kubeconfig file and, where it is not the current one, the context to use. */
export interface KubeconfigFile {
  readonly kubeconfig: string;
  readonly context?: string;
}

/** The service account of this pod; `root` is put before the path of its files and is for tests. */
export interface InCluster {
  readonly inCluster: true;
  readonly root?: string;
}

/** What keeps us from talking to a cluster at all, in one sentence with what to do about it. Holds no credential. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}

/** Everything that one request needs beside its own path and body. */
export interface Access {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Put before each path; empty but for servers behind a path, such as Rancher's. */
  readonly basePath: string;
  /** `Authorization` and the like. */
  readonly headers: Readonly<Record<string, string>>;
  /** How to connect: TLS, or a proxy. */
  readonly transport: DispatcherOptions;
  /** The namespace of the context or of this pod. */
  readonly namespace: string | undefined;
}

/** Reads a source anew: nothing of an earlier reading is kept. Throws ClusterError. */
export function loadKubeConfig(source: Source): KubeConfig {
  const config = new KubeConfig();
  if ("inCluster" in source) {
    if (!process.env["KUBERNETES_SERVICE_HOST"] || !process.env["KUBERNETES_SERVICE_PORT"]) {
      throw new ClusterError("Not in a cluster: KUBERNETES_SERVICE_HOST is not set. Give a kubeconfig file instead.");
    }
    config.loadFromCluster(source.root ?? "");
    return config;
  }
  const { kubeconfig, context } = source;
  try {
    config.loadFromFile(kubeconfig);
  } catch (error) {
    throw new ClusterError(`The kubeconfig ${kubeconfig} cannot be read: ${loadProblem(error)}.`);
  }
  if (context !== undefined) config.setCurrentContext(context);
  if (config.getCurrentCluster() === null || config.getCurrentUser() === null) {
    const names = config.getContexts().map(({ name }) => name);
    throw new ClusterError(
      `The kubeconfig ${kubeconfig} has no usable context ${JSON.stringify(config.getCurrentContext() ?? "")}: ` +
        `choose one of ${names.join(", ") || "(none)"} that names a cluster and a user of the file.`,
    );
  }
  return config;
}

/** The parser's message quotes lines of the file, and with them tokens and keys: only its reason may be told. */
function loadProblem(error: unknown): string {
  const { name, code, reason, mark } = error as {
    readonly name?: string;
    readonly code?: string;
    readonly reason?: string;
    readonly mark?: { readonly line: number };
  };
  if (name === "YAMLException") return `line ${(mark?.line ?? 0) + 1}: ${reason ?? "no YAML"}`;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a folder";
  return code ?? "it is no kubeconfig";
}

/**
 * Server, TLS and headers as they are now: token and certificate files are read, credential plugins run.
 * Throws ClusterError.
 */
export async function readAccess(config: KubeConfig): Promise<Access> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new ClusterError("The kubeconfig names no cluster.");
  const url = URL.canParse(cluster.server) ? new URL(cluster.server) : undefined;
  if (url === undefined) throw new ClusterError(`The cluster ${cluster.name} has a server that is no URL.`);
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new ClusterError(`No credentials for the cluster ${cluster.name}: ${credentialProblem(error)}.`);
  }
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
  const tls = defined({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername });
  return {
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ""),
    headers: headersOf(options),
    transport: config.createDispatcherOptions(cluster, tls),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
  };
}

/** Files say what failed; the output of a credential plugin may hold anything and is not told. */
function credentialProblem(error: unknown): string {
  const { code, path, message } = error as {
    readonly code?: string;
    readonly path?: string;
    readonly message?: string;
  };
  if (code !== undefined) return `${code}${path === undefined ? "" : ` ${path}`}`;
  if (message?.startsWith("HTTP protocol is not allowed") === true) {
    return "its server is plain http, which needs insecure-skip-tls-verify: true";
  }
  return "the credential plugin failed; run it by hand to see why";
}

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const kept: Record<string, string> = {};
  // Token files may end in a line break, which no header may hold.
  for (const [name, value] of Object.entries(headers ?? {})) kept[name] = String(value).trim();
  if (typeof auth === "string") kept["Authorization"] = `Basic ${Buffer.from(auth).toString("base64")}`;
  return kept;
}

function defined<T extends object>(fields: T): { [K in keyof T]-?: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [K in keyof T]-?: NonNullable<T[K]> };
}
