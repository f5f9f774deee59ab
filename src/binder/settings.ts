import type { Source } from "../cluster/kubeconfig.ts";
import { type FunctionSettings, readFunctionSettings } from "./function-settings.ts";
import { readShadowSettings, type ShadowSettings } from "./shadow-settings.ts";

/** What of the environment is the binder's own. */
export interface BinderSettings {
  readonly source: Source;
  /** Where the Lease lives; absent: the namespace of this pod or of the kubeconfig's context. */
  readonly leaseNamespace?: string;
  /** How long a claim may wait for its pod to be bound, in milliseconds. */
  readonly graceTime?: number;
  /** The function whose policies are decided by; absent: only those that are mounted. */
  readonly function?: FunctionSettings;
  /** What is decided in the shadow of the policies in force. */
  readonly shadow?: ShadowSettings;
}

/** Settings that make no sense; a line for each, with its name and what it should be. */
export class BinderSettingsError extends Error {}

/**
 * Reads BERTH_KUBECONFIG (a file; without it the binder uses its pod's service account), BERTH_LEASE_NAMESPACE,
 * BERTH_GRACE_SECONDS and the settings of a function and of a shadow, as {@link readFunctionSettings} and
 * {@link readShadowSettings} name them.
 *
 * @throws {BinderSettingsError} for a grace time that is no number from 1 to 3600, and every fault of the function's
 */
export function readBinderSettings(env: NodeJS.ProcessEnv): BinderSettings {
  const { BERTH_KUBECONFIG: kubeconfig, BERTH_LEASE_NAMESPACE: leaseNamespace, BERTH_GRACE_SECONDS: grace } = env;
  const [remote, shadow] = [readFunctionSettings(env), readShadowSettings(env)];
  const problems = [
    graceProblem(grace),
    ...[remote, shadow].flatMap((read) => ("problems" in read ? read.problems : [])),
  ].filter(Boolean);
  if (problems.length > 0) throw new BinderSettingsError(problems.join("\n"));
  return {
    source: kubeconfig ? { kubeconfig } : { inCluster: true },
    ...(leaseNamespace && { leaseNamespace }),
    ...(grace !== undefined && { graceTime: Number(grace) * 1000 }),
    ...("value" in remote && remote.value && { function: remote.value }),
    ...("value" in shadow && shadow.value && { shadow: shadow.value }),
  };
}

function graceProblem(grace: string | undefined): string | undefined {
  if (grace === undefined || (/^\d{1,4}$/.test(grace) && Number(grace) >= 1 && Number(grace) <= 3600)) return undefined;
  return `BERTH_GRACE_SECONDS must be a whole number from 1 to 3600, such as 30, not ${JSON.stringify(grace)}`;
}
