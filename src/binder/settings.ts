import type { Source } from "../cluster/kubeconfig.ts";

/** What of the environment is the binder's own. */
export interface BinderSettings {
  readonly source: Source;
  /** Where the Lease lives; absent: the namespace of this pod or of the kubeconfig's context. */
  readonly leaseNamespace?: string;
  /** How long a claim may wait for its pod to be bound, in milliseconds. */
  readonly graceTime?: number;
}

/** A setting that makes no sense: its name and what it should be. */
export class BinderSettingsError extends Error {}

/**
 * Reads BERTH_KUBECONFIG (a file; without it the binder uses its pod's service account), BERTH_LEASE_NAMESPACE and
 * BERTH_GRACE_SECONDS.
 *
 * @throws {BinderSettingsError} for a grace time that is no number from 1 to 3600
 */
export function readBinderSettings(env: NodeJS.ProcessEnv): BinderSettings {
  const { BERTH_KUBECONFIG: kubeconfig, BERTH_LEASE_NAMESPACE: leaseNamespace, BERTH_GRACE_SECONDS: grace } = env;
  if (grace !== undefined && !(/^\d{1,4}$/.test(grace) && Number(grace) >= 1 && Number(grace) <= 3600)) {
    throw new BinderSettingsError(
      `BERTH_GRACE_SECONDS must be a whole number from 1 to 3600, such as 30, not ${JSON.stringify(grace)}`,
    );
  }
  return {
    source: kubeconfig ? { kubeconfig } : { inCluster: true },
    ...(leaseNamespace && { leaseNamespace }),
    ...(grace !== undefined && { graceTime: Number(grace) * 1000 }),
  };
}
