import type { KubeConfig } from "@kubernetes/client-node";
import { type Access, loadKubeConfig, readAccess, type Source } from "./kubeconfig.ts";
import type { Timing } from "./timing.ts";

/** Credentials that follow their files: rotated tokens and certificates are noticed without a restart. */
export interface Credentials {
  /**
   * What to send now: looked at again every ten seconds, and there at once in between; the same object as long as it is
   * the same. Never throws.
   */
  current(): Access | Promise<Access>;
  /**
   * Reads everything again, kubeconfig and plugins included, after the server has refused `used`. Gives `used` itself
   * when there is nothing newer. Not more than once a second.
   */
  renew(used: Access): Promise<Access>;
}

/** How long headers and certificates are used before their files are looked at again, in milliseconds. */
const FRESH_FOR = 10_000;

/** A server that refuses valid credentials must not make every call read files and run plugins. */
const RENEW_EVERY = 1_000;

/** Reads the source for the first time. Throws ClusterError. */
export async function openCredentials(source: Source, timing: Timing): Promise<Credentials> {
  let config: KubeConfig = loadKubeConfig(source);
  let access = await readAccess(config);
  let readAt = timing.elapsed();
  let renewedAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | undefined;
  let renewing: Promise<void> | undefined;

  const read = async (load: () => KubeConfig): Promise<void> => {
    try {
      const next = load();
      const found = await readAccess(next);
      config = next;
      if (JSON.stringify(found) !== JSON.stringify(access)) access = found;
    } catch {
      // A file that is just being replaced: what was read before may still be good, and the server tells when not.
    }
    readAt = timing.elapsed();
  };

  return {
    current() {
      if (timing.elapsed() - readAt < FRESH_FOR) return access;
      refreshing ??= read(() => config).finally(() => {
        refreshing = undefined;
      });
      return refreshing.then(() => access);
    },
    async renew(used) {
      await refreshing;
      if (access === used && timing.elapsed() - renewedAt >= RENEW_EVERY) {
        renewedAt = timing.elapsed();
        renewing = read(() => loadKubeConfig(source));
      }
      await renewing;
      return access;
    },
  };
}
