import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, connectApi } from "./api.ts";
import { type Authority, createAuthority } from "./authority.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import type { KubeObject } from "./objects.ts";
import { freePort } from "./ports.ts";
import { prepareApiServer, startEtcd, tokens } from "./servers.ts";

/** What may differ from one control plane to another. */
export interface ControlPlaneOptions {
  /** Added to the API server's flags; the last of a repeated flag counts. */
  readonly flags?: readonly string[];
}

/** How an API server is taken down and brought back. */
export interface RestartOptions {
  /** Default SIGKILL; SIGTERM lets it say goodbye to its watches first. */
  readonly signal?: NodeJS.Signals;
  /** Runs while nobody listens. */
  readonly whileDown?: () => Promise<void>;
}

/** etcd and kube-apiserver with TLS and RBAC on 127.0.0.1, in a temporary folder. */
export interface ControlPlane {
  readonly url: string;
  readonly port: number;
  /** Deleted by `stop`; free for whatever belongs to the test. */
  readonly folder: string;
  readonly caPem: string;
  /** Plain HTTP, for whoever has to get past the API server. */
  readonly etcdUrl: string;
  /** The API server accepts client certificates of this authority: common name is the user, organizations the groups. */
  readonly authority: Authority;
  /** Of the user `admin` in `system:masters`. */
  readonly adminToken: string;
  /** The API as `admin` sees it. */
  readonly api: Api;
  /**
   * Writes a kubeconfig and gives its path: `admin` and `system:kube-scheduler` by token, any other user by a client
   * certificate with these groups. What the user may do is up to RBAC.
   */
  kubeconfig(user: string, groups?: readonly string[]): Promise<string>;
  /** Creates the account if it lacks and writes a kubeconfig with a token of it, good for an hour; gives its path. */
  serviceAccountKubeconfig(namespace: string, name: string): Promise<string>;
  /** Same port, same data. Resolves when it is ready again. */
  restartApiServer(options?: RestartOptions): Promise<void>;
  /** Registers what `stop` has to end first; the last registered is ended first. */
  onStop(cleanup: () => Promise<void> | void): void;
  /** Ends everything and deletes the folder (kept when BERTH_E2E_KEEP is set). Harmless when repeated. */
  stop(): Promise<void>;
}

/** Starts a control plane and waits until it is ready, about five seconds. The programs must have been ensured. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const folder = await mkdtemp(join(tmpdir(), "berth-controlplane-"));
  const cleanups: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) await cleanup();
    if (!process.env["BERTH_E2E_KEEP"]) await rm(folder, { recursive: true, force: true });
  };
  try {
    const authority = await createAuthority("berth test CA");
    const etcd = await startEtcd(folder);
    cleanups.push(() => etcd.process.stop("SIGKILL"));
    const port = await freePort();
    const connection = { url: `https://127.0.0.1:${port}`, caPem: authority.caPem, token: tokens.admin };
    const api = connectApi(connection);
    const start = await prepareApiServer({ folder, authority, port, etcdUrl: etcd.url, flags: options.flags ?? [] });
    let server = await start(api);
    cleanups.push(() => api.close());
    cleanups.push(() => server.stop("SIGKILL"));
    const restartApiServer = async (restart: RestartOptions = {}): Promise<void> => {
      await server.stop(restart.signal ?? "SIGKILL");
      await restart.whileDown?.();
      server = await start(api);
    };
    const base = {
      url: connection.url,
      port,
      folder,
      caPem: authority.caPem,
      etcdUrl: etcd.url,
      authority,
      adminToken: tokens.admin,
      api,
    };
    return {
      ...base,
      kubeconfig: (user, groups = []) => userKubeconfig(base, user, groups),
      serviceAccountKubeconfig: (namespace, name) => accountKubeconfig(base, namespace, name),
      restartApiServer,
      onStop: (cleanup) => cleanups.push(cleanup),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Base = Pick<ControlPlane, "url" | "folder" | "caPem" | "authority" | "api">;

async function userKubeconfig(base: Base, user: string, groups: readonly string[]): Promise<string> {
  const token = Object.entries(tokens).find(([name]) => name === user)?.[1];
  const credential =
    token === undefined ? await base.authority.issue({ name: user, organizations: groups }) : { token };
  return writeKubeconfig(base, user, kubeconfigText(base.url, base.caPem, credential));
}

async function accountKubeconfig(base: Base, namespace: string, name: string): Promise<string> {
  const account: KubeObject = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  if ((await base.api.find(account)) === undefined) await base.api.create(account);
  const answer = await base.api.request<{ status: { token: string } }>({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } },
  });
  return writeKubeconfig(base, `${namespace}-${name}`, kubeconfigText(base.url, base.caPem, answer.status));
}

async function writeKubeconfig(base: Base, user: string, text: string): Promise<string> {
  const path = join(base.folder, `${user.replaceAll(/[^A-Za-z0-9.-]/g, "-")}.kubeconfig`);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
