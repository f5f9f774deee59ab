/** A minor version of Kubernetes, such as 1.37: 37. */
export type Minor = number;

/** The oldest that reads `kubescheduler.config.k8s.io/v1`. */
export const OLDEST_V1: Minor = 25;

/** From here on a filter with whole nodes blinds kube-scheduler's own scores (kubernetes/kubernetes#141781). */
export const BLIND_SCORES_SINCE: Minor = 34;

/** The feature gate SchedulerPopFromBackoffQ is there, and on by default, from here on; an older one refuses its name. */
export const POP_FROM_BACKOFF_SINCE: Minor = 33;

/** Reads `1.37`, `v1.37.2` or `v1.33.5-eks-1a2b3c4`. Answers undefined for anything else. */
export function parseMinor(text: string): Minor | undefined {
  const match = /^v?1\.(\d{1,3})(?:[.+-].*)?$/.exec(text.trim());
  return match ? Number(match[1]) : undefined;
}
