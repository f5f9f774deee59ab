import { createHash } from "node:crypto";
import type { ConnectOptions, DispatcherOptions } from "@kubernetes/client-node";
import { Agent, type buildConnector, type Dispatcher, ProxyAgent } from "undici";
import { type Access, ClusterError } from "./kubeconfig.ts";

/** The connections to the API server: one pool for calls, one for watches, so that neither waits for the other. */
export interface Pools {
  readonly calls: Dispatcher;
  readonly watches: Dispatcher;
}

/** Pools that follow the credentials. */
export interface PoolKeeper {
  /** The pools for this access: the same ones as long as TLS and proxy stay the same. Throws ClusterError. */
  of(access: Access): Pools;
  /** Breaks every connection. */
  destroy(): Promise<void>;
}

/**
 * Opens pools when they are first asked for.
 *
 * client-node makes a new dispatcher, and with it a new TLS connection, for every call (kubernetes-client/javascript,
 * issue 2893); these are shared by all. HTTP/1.1 on purpose: a call past its deadline then takes its own connection
 * down and nobody else's, while one silent HTTP/2 connection would hold up all calls and the Lease with them.
 *
 * @param connections most connections for calls at a time; further calls wait in order
 */
export function keepPools(connections: number): PoolKeeper {
  let kept: { readonly key: string; readonly pools: Pools } | undefined;
  return {
    of(access) {
      const key = fingerprint(access);
      if (kept?.key !== key) {
        const old = kept?.pools;
        const open = (most: number | null): Dispatcher => openPool(access.transport, most);
        kept = { key, pools: { calls: open(connections), watches: open(null) } };
        // Calls and watches that are under way end in their own time.
        for (const pool of [old?.calls, old?.watches]) pool?.close().catch(() => undefined);
      }
      return kept.pools;
    },
    async destroy() {
      const { calls, watches } = kept?.pools ?? {};
      await Promise.all([calls?.destroy(), watches?.destroy()]);
    },
  };
}

const fingerprints = new WeakMap<Access, string>();

function fingerprint(access: Access): string {
  const known = fingerprints.get(access);
  if (known !== undefined) return known;
  const plain = JSON.stringify([access.origin, access.transport]);
  const made = createHash("sha256").update(plain).digest("hex");
  fingerprints.set(access, made);
  return made;
}

function openPool(transport: DispatcherOptions, connections: number | null): Dispatcher {
  const limits = {
    connections,
    allowH2: false,
    // Below the idle time-outs of load balancers (60 s) and of the API server (90 s), or a call meets a closing socket.
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 30_000,
    // Calls have deadlines of their own, watches their watchdogs.
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: 5_000,
  };
  switch (transport.type) {
    case "none":
      return new Agent(limits);
    case "agent":
      return new Agent({ ...limits, connect: { ...tls(transport.connect), timeout: limits.connectTimeout } });
    case "proxy":
      return new ProxyAgent({ ...limits, uri: transport.uri, requestTls: tls(transport.requestTls) });
    case "socks":
      throw new ClusterError("The cluster's proxy-url is a SOCKS proxy, which is not supported: use an HTTP proxy.");
  }
}

/** The same options under undici's type, which has no place for fields that are there and undefined; these are not. */
function tls(options: ConnectOptions): buildConnector.BuildOptions {
  return options as buildConnector.BuildOptions;
}
